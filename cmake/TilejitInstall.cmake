# SPDX-License-Identifier: MIT
# What `cmake --install` puts where besides libtilejit-runtime (TilejitRuntime.cmake), and how other projects find it.
#
#   bin/tilejit                      the command, with the library inside
#   lib/libtilejit.so.0, .so, .a     the library
#   lib/libtilejit-hsasim.so         the simulated devices; who has the library inside looks for it by where that is
#                                    itself (rt/sim.c)
#   lib/libtilejit-passes.so         what makes LLVM faster, looked for likewise (llvm/llvm.c)
#   lib/tilejit-simulator/           the same as libhsa-runtime64.so.1, for LD_LIBRARY_PATH
#   lib/cmake/tilejit/               find_package(tilejit): tilejit::tilejit, tilejit::tilejit_static, tilejit::runtime,
#                                    tilejit_add_bundle() and tilejit_add_functions() (tilejitCompile.cmake)
#   lib/pkgconfig/tilejit.pc         pkg-config tilejit, --static included
#   include/tilejit/tilejit.h        the public header, which includes runtime.h
#   share/tilejit/                   libraries that programs import: the command looks beside its own folder
#   share/doc/tilejit/               documents and examples
#   share/bash-completion/completions/tilejit, share/zsh/site-functions/_tilejit,
#   share/fish/vendor_completions.d/tilejit.fish
#
# On Debian lib is lib/TRIPLET, as in lib/x86_64-linux-gnu, whatever the prefix (see ../CMakeLists.txt). Each file
# belongs to a component, of which cpack makes a package: command, library or development (TilejitPackages.cmake).
#
# The prefix may be chosen, or moved, after the build: nothing but the search for the simulator by programs that are
# linked with libtilejit.a depends on where it was configured to be.
set(TILEJIT_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/tilejit")

# --- files ---

set_target_properties(tilejit_passes tilejit_hsasim PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}")

install(TARGETS tilejit RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT command)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT command
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT command
  PATTERN "embed" EXCLUDE PATTERN "bundle" EXCLUDE PATTERN "cuda" EXCLUDE PATTERN "hip" EXCLUDE)
install(CODE "set(TILEJIT_DOCUMENTS \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")"
  COMPONENT command)
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/TilejitInstalledLinks.cmake" COMPONENT command)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/share/tilejit" DESTINATION "${CMAKE_INSTALL_DATADIR}" COMPONENT command)
install(FILES completions/tilejit.bash DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
  RENAME tilejit COMPONENT command)
install(FILES completions/_tilejit DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT command)
install(FILES completions/tilejit.fish DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
  COMPONENT command)

install(TARGETS libtilejit_shared EXPORT tilejit
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS tilejit_hsasim tilejit_passes LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
install(FILES "${TILEJIT_HSA_LINK}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/tilejit-simulator" COMPONENT library)

install(TARGETS libtilejit_static ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(FILES "${PROJECT_SOURCE_DIR}/include/tilejit/tilejit.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tilejit"
  COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples/embed" "${PROJECT_SOURCE_DIR}/examples/bundle"
  "${PROJECT_SOURCE_DIR}/examples/cuda" "${PROJECT_SOURCE_DIR}/examples/hip" DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples"
  COMPONENT development)

# --- what linking libtilejit.a takes ---

set(TILEJIT_STATIC_LIBRARIES m dl pthread)
list(TRANSFORM TILEJIT_STATIC_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE TILEJIT_PC_LIBRARIES)
list(JOIN TILEJIT_PC_LIBRARIES " " TILEJIT_PC_LIBRARIES)

# --- CMake package and pkg-config file ---

install(EXPORT tilejit NAMESPACE tilejit:: FILE tilejitTargets.cmake DESTINATION "${TILEJIT_PACKAGE_DIR}"
  COMPONENT development)
configure_package_config_file(cmake/tilejitConfig.cmake.in "${PROJECT_BINARY_DIR}/tilejitConfig.cmake"
  INSTALL_DESTINATION "${TILEJIT_PACKAGE_DIR}" PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tilejitConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tilejitConfig.cmake" "${PROJECT_BINARY_DIR}/tilejitConfigVersion.cmake"
  cmake/tilejitCompile.cmake DESTINATION "${TILEJIT_PACKAGE_DIR}" COMPONENT development)

configure_file(cmake/tilejit.pc.in "${PROJECT_BINARY_DIR}/tilejit.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tilejit.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT development)
