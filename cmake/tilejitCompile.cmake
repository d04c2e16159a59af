# SPDX-License-Identifier: MIT
# Programs of tilejit as part of a project's build, by the command tilejit_COMMAND. find_package(tilejit) includes this.
#
# tilejit_add_bundle(NAME SOURCES FILE… TARGETS TARGET… [PARAMETERS P=V…] [DEPENDS FILE…] [OUTPUT FILE] [EMBED])
#
#   NAME is a target that makes a bundle of every kernel of the files, for every target: `host`, x86-64-v3, gfx942, …
#   The file is OUTPUT, NAME.tjb in the current binary folder by itself, which is also the target's property
#   TILEJIT_BUNDLE. PARAMETERS are fixed; DEPENDS names what the files import. With EMBED, NAME is a library that holds
#   the bytes, for programs that link it: NAME.h declares `const unsigned char NAME[]` and `const size_t NAME_size`, for
#   tj_bundle_open. EMBED needs GCC or Clang and the project's language C.
#
# tilejit_add_functions(NAME SOURCE FILE FUNCTIONS FUNCTION=EXPRESSION… [PARAMETERS P=V…] [DEPENDS FILE…])
#
#   NAME is an interface library whose users may include FUNCTION.h for each function: the index arithmetic of an
#   expression of the file, as C that C++, HIP and CUDA take, too (`tilejit compile --emit c`).
include_guard()

# Stops where an argument of a function is missing or wrong; the words of --set go to `result`.
function(_tilejit_check function prefix result)
  if(NOT tilejit_COMMAND)
    message(FATAL_ERROR "${function}: the command tilejit was not found: install it, or set tilejit_COMMAND")
  endif()
  if(${prefix}_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}: unexpected ${${prefix}_UNPARSED_ARGUMENTS}")
  endif()
  foreach(word IN LISTS ARGN)
    if(NOT ${prefix}_${word})
      message(FATAL_ERROR "${function}: ${word} is missing")
    endif()
  endforeach()
  list(TRANSFORM ${prefix}_PARAMETERS PREPEND "--set=")
  set(${result} "${${prefix}_PARAMETERS}" PARENT_SCOPE)
endfunction()

# A library that holds a file: the assembler takes it as it is.
function(_tilejit_embed name file)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.embedded")
  file(CONFIGURE OUTPUT "${folder}/${name}.h" @ONLY CONTENT "#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern \"C\" {
#endif
extern const unsigned char @name@[];
extern const size_t @name@_size;
#ifdef __cplusplus
}
#endif
")
  file(CONFIGURE OUTPUT "${folder}/${name}.c" @ONLY CONTENT "#include \"@name@.h\"
__asm__(\".pushsection .rodata\\n.balign 16\\n.globl @name@\\n@name@: .incbin \\\"@file@\\\"\\n1: .balign 8\\n\"
        \".globl @name@_size\\n@name@_size: .quad 1b - @name@\\n.popsection\");
")
  set_source_files_properties("${folder}/${name}.c" PROPERTIES OBJECT_DEPENDS "${file}")
  add_library(${name} STATIC "${folder}/${name}.c")
  target_include_directories(${name} PUBLIC "${folder}")
endfunction()

function(tilejit_add_bundle name)
  cmake_parse_arguments(BUNDLE "EMBED" "OUTPUT" "SOURCES;TARGETS;PARAMETERS;DEPENDS" ${ARGN})
  _tilejit_check(tilejit_add_bundle BUNDLE fixed SOURCES TARGETS)
  if(NOT BUNDLE_OUTPUT)
    set(BUNDLE_OUTPUT "${name}.tjb")
  endif()
  get_filename_component(file "${BUNDLE_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  set(sources "")
  foreach(source IN LISTS BUNDLE_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    list(APPEND sources "${source}")
  endforeach()
  list(TRANSFORM BUNDLE_TARGETS PREPEND "--target=")
  add_custom_command(OUTPUT "${file}"
    COMMAND "${tilejit_COMMAND}" bundle ${sources} ${BUNDLE_TARGETS} ${fixed} -o "${file}"
    DEPENDS ${sources} ${BUNDLE_DEPENDS} "${tilejit_COMMAND}" COMMENT "Compiling ${name}" VERBATIM)
  if(BUNDLE_EMBED)
    _tilejit_embed(${name} "${file}")
  else()
    add_custom_target(${name} ALL DEPENDS "${file}")
  endif()
  set_target_properties(${name} PROPERTIES TILEJIT_BUNDLE "${file}")
endfunction()

function(tilejit_add_functions name)
  cmake_parse_arguments(GIVEN "" "SOURCE" "FUNCTIONS;PARAMETERS;DEPENDS" ${ARGN})
  _tilejit_check(tilejit_add_functions GIVEN fixed SOURCE FUNCTIONS)
  get_filename_component(source "${GIVEN_SOURCE}" ABSOLUTE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.functions")
  file(MAKE_DIRECTORY "${folder}")
  set(headers "")
  foreach(each IN LISTS GIVEN_FUNCTIONS)
    if(NOT each MATCHES "^([A-Za-z_][A-Za-z_0-9]*)=(.+)$")
      message(FATAL_ERROR "tilejit_add_functions: '${each}' is not of the form FUNCTION=EXPRESSION")
    endif()
    set(function "${CMAKE_MATCH_1}")
    set(header "${folder}/${function}.h")
    add_custom_command(OUTPUT "${header}"
      COMMAND "${tilejit_COMMAND}" compile "${source}" -e "${CMAKE_MATCH_2}" --emit c --function "${function}" ${fixed}
        -o "${header}"
      DEPENDS "${source}" ${GIVEN_DEPENDS} "${tilejit_COMMAND}" COMMENT "Compiling ${function}" VERBATIM)
    list(APPEND headers "${header}")
  endforeach()
  add_custom_target(${name}_headers DEPENDS ${headers})
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_headers)
  target_include_directories(${name} INTERFACE "${folder}")
endfunction()
