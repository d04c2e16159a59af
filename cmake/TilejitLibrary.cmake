# SPDX-License-Identifier: MIT
# libtilejit, shared and static, from the objects of every stage. Only what tilejit.h declares is visible.
set(TILEJIT_STAGES base llvm ir frontend lower object isa codegen link jit rt launch)
list(TRANSFORM TILEJIT_STAGES PREPEND tilejit_ OUTPUT_VARIABLE TILEJIT_STAGE_TARGETS)

foreach(kind SHARED STATIC)
  string(TOLOWER libtilejit_${kind} name)
  add_library(${name} ${kind})
  target_link_libraries(${name} PRIVATE ${TILEJIT_STAGE_TARGETS} Threads::Threads)
  target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  add_dependencies(${name} tilejit_passes)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME tilejit VERSION ${PROJECT_VERSION} SOVERSION 0)
endforeach()
# Clang links the sanitizers' runtime with programs, which their libraries then refer to.
if(NOT (TILEJIT_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "Clang"))
  target_link_options(libtilejit_shared PRIVATE -Wl,--no-undefined)
endif()
target_link_options(libtilejit_shared PRIVATE "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/tilejit.map"
  -Wl,--exclude-libs,ALL)
set_target_properties(libtilejit_shared PROPERTIES LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/tilejit.map"
  EXPORT_NAME tilejit)
