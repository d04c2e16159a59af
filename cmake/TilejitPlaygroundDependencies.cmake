# SPDX-License-Identifier: MIT
# What compiling the compiler for a browser takes: LLVM's C headers, which are the same for all machines. A page has
# neither LLVM nor Z3: what opens them says so.
find_path(LLVM_INCLUDE_DIR llvm-c/Core.h HINTS /usr/lib/llvm-22/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
add_library(tilejit_llvm_headers INTERFACE)
target_include_directories(tilejit_llvm_headers SYSTEM INTERFACE "${LLVM_INCLUDE_DIR}")
target_link_libraries(tilejit_llvm_headers INTERFACE tilejit_generated)
target_compile_definitions(tilejit_llvm_headers INTERFACE TILEJIT_HOST_TRIPLE="wasm32-unknown-emscripten")
add_library(tilejit_z3 INTERFACE)
target_compile_options(tilejit_options INTERFACE -include "${PROJECT_SOURCE_DIR}/docs/playground/absent.h")
