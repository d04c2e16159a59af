# SPDX-License-Identifier: MIT
# What compiling takes: LLVM, jansson, and Z3 where it is. All from distribution
# packages.
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.13)

find_package(LLVM 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/llvm)
add_library(tilejit_llvm INTERFACE)
target_include_directories(tilejit_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(tilejit_llvm INTERFACE LLVM)

# Proofs by SMT. Without Z3 they are left out, and what only they decide stays undecided.
option(TILEJIT_Z3 "Prove with Z3 where it is installed" ON)
add_library(tilejit_z3 INTERFACE)
if(TILEJIT_Z3)
  find_path(Z3_INCLUDE_DIR z3.h PATH_SUFFIXES z3)
  find_library(Z3_LIBRARY z3)
endif()
if(TILEJIT_Z3 AND Z3_INCLUDE_DIR AND Z3_LIBRARY)
  set(TILEJIT_HAVE_Z3 TRUE)
  target_include_directories(tilejit_z3 SYSTEM INTERFACE "${Z3_INCLUDE_DIR}")
  target_compile_definitions(tilejit_z3 INTERFACE TILEJIT_HAVE_Z3=1)
  target_link_libraries(tilejit_z3 INTERFACE "${Z3_LIBRARY}")
endif()
