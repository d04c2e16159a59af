# SPDX-License-Identifier: MIT
# `cpack`, in a build tree: Debian packages, one of each component of the installation.
#
#   tilejit          the command, its manual, its completions, documents; complete by itself: the command has the library
#                    inside, and beside it a simulator of its own, in lib/TRIPLET/tilejit
#   libtilejit0      the shared library, and the simulated devices
#   libtilejit-dev   the header, the static library, what CMake and pkg-config need, examples/embed, examples/bundle
#   libtilejit-runtime0, libtilejit-runtime-dev
#                    the library that runs what was compiled before, and its header
#
# What Debian asks for besides what is installed (changelog, copyright, compressed manual pages, overrides of lintian)
# is added by TilejitDebianFiles.cmake, from debian/. A packager gives their address as TILEJIT_MAINTAINER, and has a
# changelog entry for each version (debian/changelog.in).
set(TILEJIT_MAINTAINER "The tilejit authors <tilejit@example.org>" CACHE STRING "Who maintains the packages")
set(TILEJIT_DEBIAN_REVISION 1 CACHE STRING "What follows the version of the packages")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tilejit)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGE_CONTACT "${TILEJIT_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command library development runtime runtime_development)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/TilejitDebianFiles.cmake")
set(CPACK_TILEJIT_SOURCE "${PROJECT_SOURCE_DIR}")
set(CPACK_TILEJIT_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
set(CPACK_TILEJIT_DOCDIR "${CMAKE_INSTALL_DOCDIR}")
set(CPACK_TILEJIT_STRIP "${CMAKE_STRIP}")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "${TILEJIT_DEBIAN_REVISION}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# tilejit_package(COMPONENT PACKAGE SECTION SUMMARY PARAGRAPH DEPENDS)
function(tilejit_package component package section summary paragraph)
  string(TOUPPER "${component}" key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME "${package}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION "${section}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${summary}\n${paragraph}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${ARGN}" PARENT_SCOPE)
endfunction()

set(about "tilejit compiles the layouts of tensors and the transforms of their
coordinates, written in the terms of CuTe and CK Tile, to kernels for AMD
GPUs and for the host.")
set(same "(= ${PROJECT_VERSION}-${TILEJIT_DEBIAN_REVISION})")
# Z3 is opened, not linked, which dpkg-shlibdeps cannot know. By Debian's policy libz3.so.4 is in the package libz3-4.
string(REPLACE ".so." "-" opened "${TILEJIT_Z3_FILE}")
tilejit_package(command tilejit devel "JIT compiler for tensor layouts" "${about}
.
This package has the command, and simulated GPUs for it." ${opened})
tilejit_package(library libtilejit0 libs "JIT compiler for tensor layouts (library)" "${about}
.
This package has the library, and simulated GPUs." ${opened})
tilejit_package(development libtilejit-dev libdevel "JIT compiler for tensor layouts (development files)" "${about}
.
This package has what it takes to build programs with the library."
  "libtilejit0 ${same}, libtilejit-runtime-dev ${same}")
tilejit_package(runtime libtilejit-runtime0 libs "run-time library for compiled tensor layouts" "${about}
.
This package has the library that runs kernels that were compiled before, and
needs no compiler.")
tilejit_package(runtime_development libtilejit-runtime-dev libdevel
  "run-time library for compiled tensor layouts (development files)" "${about}
.
This package has what it takes to build programs that run kernels that were
compiled before." "libtilejit-runtime0 ${same}")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "man-db")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS
  "llvm-${LLVM_VERSION_MAJOR}-dev, libz3-dev, tilejit")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/triggers")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/cmake/debian/triggers")

include(CPack)
