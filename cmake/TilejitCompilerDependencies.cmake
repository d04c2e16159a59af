# SPDX-License-Identifier: MIT
# What compiling takes: LLVM, jansson, and Z3 where it is. All from distribution packages. LLVM and Z3 are opened at
# run time; linked with LLVM are libraries that are opened themselves.
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.13)

find_package(LLVM 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/llvm)
get_target_property(configuration LLVM IMPORTED_CONFIGURATIONS)
get_target_property(library LLVM IMPORTED_LOCATION_${configuration})
tilejit_soname("${library}" TILEJIT_LLVM_FILE)
add_library(tilejit_llvm_headers INTERFACE)
target_include_directories(tilejit_llvm_headers SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(tilejit_llvm_headers INTERFACE tilejit_generated)
target_compile_definitions(tilejit_llvm_headers INTERFACE TILEJIT_HOST_TRIPLE="${LLVM_TARGET_TRIPLE}")
add_library(tilejit_llvm_library INTERFACE)
target_link_libraries(tilejit_llvm_library INTERFACE tilejit_llvm_headers LLVM)

# Proofs by SMT. Without Z3, here or where tilejit runs, what only they decide stays undecided.
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
  target_link_libraries(tilejit_z3 INTERFACE tilejit_generated Threads::Threads)
  tilejit_soname("${Z3_LIBRARY}" TILEJIT_Z3_FILE)
endif()
