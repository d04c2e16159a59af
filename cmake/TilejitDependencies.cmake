# LLVM through its C API, LLD's ELF linker, jansson, threads. All from distribution packages.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.13)

find_package(LLVM 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/llvm)
add_library(tilejit_llvm INTERFACE)
target_include_directories(tilejit_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(tilejit_llvm INTERFACE LLVM)

add_library(tilejit_lld INTERFACE)
target_link_libraries(tilejit_lld INTERFACE
  "${LLVM_LIBRARY_DIR}/liblldELF.a" "${LLVM_LIBRARY_DIR}/liblldCommon.a" tilejit_llvm)
