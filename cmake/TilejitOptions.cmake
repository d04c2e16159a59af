# SPDX-License-Identifier: MIT
# Language standards, warnings, sanitizers, and tilejit_stage(), which declares one folder of the compiler.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
if(NOT TILEJIT_PLAYGROUND)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(tilejit_options INTERFACE)
target_compile_options(tilejit_options INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes>
  # Constants are enumerators, and stand in sums of floats too.
  $<$<COMPILE_LANG_AND_ID:C,Clang>:-Wno-enum-float-conversion>)
target_include_directories(tilejit_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
target_compile_definitions(tilejit_options INTERFACE _GNU_SOURCE $<$<CONFIG:Debug>:TJ_DEBUG=1>)
if(TILEJIT_WERROR)
  target_compile_options(tilejit_options INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()
if(TILEJIT_SANITIZE)
  target_compile_options(tilejit_options INTERFACE "-fsanitize=${TILEJIT_SANITIZE}" -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(tilejit_options INTERFACE "-fsanitize=${TILEJIT_SANITIZE}")
  # Where a program lies is in each of the thousands of descriptions that AddressSanitizer adds: a start takes 88 ms
  # without relocations, and 144 with.
  if(TILEJIT_SANITIZE MATCHES "address")
    target_link_options(tilejit_options INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  endif()
endif()

# tilejit_stage(NAME SOURCES file… LINKS library…): the objects of one folder, for the library and for unit tests.
function(tilejit_stage name)
  cmake_parse_arguments(STAGE "" "" "SOURCES;LINKS" ${ARGN})
  add_library(tilejit_${name} OBJECT ${STAGE_SOURCES})
  target_link_libraries(tilejit_${name} PUBLIC tilejit_options ${STAGE_LINKS})
endfunction()
