# SPDX-License-Identifier: MIT
# Run by cpack between installing the components and making packages of them: adds to each what Debian's policy asks
# for, and takes away what it does not want. debian/overrides/PACKAGE are the overrides of lintian.
set(debian "${CPACK_TILEJIT_SOURCE}/cmake/debian")
set(CHANGELOG_VERSION "${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")

function(tilejit_run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(tilejit_compress file)
  tilejit_run(gzip -9nf "${file}")
endfunction()

# The changelog, whose first entry must be of the version that is packed.
function(tilejit_add_changelog folder)
  configure_file("${debian}/changelog.in" "${folder}/changelog.Debian" @ONLY)
  file(STRINGS "${folder}/changelog.Debian" entry LIMIT_COUNT 1)
  if(NOT entry MATCHES "^tilejit \\((.*)\\)" OR NOT CMAKE_MATCH_1 STREQUAL CHANGELOG_VERSION)
    message(FATAL_ERROR "cmake/debian/changelog.in begins with '${entry}': it needs an entry for ${CHANGELOG_VERSION}")
  endif()
  tilejit_compress("${folder}/changelog.Debian")
endfunction()

function(tilejit_add_documents root package)
  set(folder "${root}/usr/share/doc/${package}")
  file(MAKE_DIRECTORY "${folder}")
  tilejit_add_changelog("${folder}")
  configure_file("${debian}/copyright" "${folder}/copyright" COPYONLY)
  if(EXISTS "${debian}/overrides/${package}")
    file(MAKE_DIRECTORY "${root}/usr/share/lintian/overrides")
    configure_file("${debian}/overrides/${package}" "${root}/usr/share/lintian/overrides/${package}" COPYONLY)
  endif()
endfunction()

# Whoever has the command alone has the libraries that it opens, too: in a folder that is the package's own.
function(tilejit_add_opened_libraries root libraries)
  file(COPY "${libraries}/usr/${CPACK_TILEJIT_LIBDIR}/libtilejit-hsasim.so"
    "${libraries}/usr/${CPACK_TILEJIT_LIBDIR}/libtilejit-passes.so"
    DESTINATION "${root}/usr/${CPACK_TILEJIT_LIBDIR}/tilejit")
endfunction()

# Packages of Debian's are in the folders where the dynamic linker looks: no run paths. (CMake edits binaries by itself
# when it installs them; this is the same edit.)
function(tilejit_finish_binaries root)
  file(GLOB binaries "${root}/usr/bin/*" "${root}/usr/${CPACK_TILEJIT_LIBDIR}/*.so*"
    "${root}/usr/${CPACK_TILEJIT_LIBDIR}/tilejit/*.so")
  foreach(binary IN LISTS binaries)
    if(NOT IS_SYMLINK "${binary}")
      file(RPATH_REMOVE FILE "${binary}")
    endif()
  endforeach()
  file(GLOB archives "${root}/usr/${CPACK_TILEJIT_LIBDIR}/*.a")
  foreach(archive IN LISTS archives)
    tilejit_run("${CPACK_TILEJIT_STRIP}" --strip-debug --remove-section=.comment --remove-section=.note
      --enable-deterministic-archives "${archive}")
  endforeach()
endfunction()

# Debian's zsh looks for what packages bring in a folder of its own.
function(tilejit_move_completions root)
  if(EXISTS "${root}/usr/share/zsh/site-functions")
    file(RENAME "${root}/usr/share/zsh/site-functions" "${root}/usr/share/zsh/vendor-completions")
  endif()
endfunction()

# Debian has one name for what changed, to which README.md then has no link.
function(tilejit_move_changes root)
  set(TILEJIT_DOCUMENTS "${root}/usr/share/doc/tilejit")
  file(RENAME "${TILEJIT_DOCUMENTS}/CHANGELOG.md" "${TILEJIT_DOCUMENTS}/changelog")
  tilejit_compress("${TILEJIT_DOCUMENTS}/changelog")
  include("${CPACK_TILEJIT_SOURCE}/cmake/TilejitInstalledLinks.cmake")
endfunction()

tilejit_move_changes("${CPACK_TEMPORARY_DIRECTORY}/command")
tilejit_add_opened_libraries("${CPACK_TEMPORARY_DIRECTORY}/command" "${CPACK_TEMPORARY_DIRECTORY}/library")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" key)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}")
  tilejit_add_documents("${root}" "${CPACK_DEBIAN_${key}_PACKAGE_NAME}")
  tilejit_finish_binaries("${root}")
  tilejit_move_completions("${root}")
  file(GLOB_RECURSE pages "${root}/usr/share/man/*.[1-8]")
  foreach(page IN LISTS pages)
    tilejit_compress("${page}")
  endforeach()
endforeach()
