# SPDX-License-Identifier: MIT
# Libraries that are opened at run time, by their C functions.
#
# A table of rows FUNCTION(name) says which functions are used. C expands it into pointers and into the loader; what it
# cannot make of rows are macros, which are written here: callers use the names that the library's own header declares.

# tilejit_function_names(TABLE PREFIX OBJECT HEADER): a header, `#define PREFIXname OBJECT.name` for each row. It goes to
# where tilejit_generated has it included from.
set(generated "${PROJECT_BINARY_DIR}/generated")
add_library(tilejit_generated INTERFACE)
target_include_directories(tilejit_generated INTERFACE "${generated}")
function(tilejit_function_names table prefix object header)
  file(STRINGS "${PROJECT_SOURCE_DIR}/${table}" rows REGEX "^FUNCTION")
  list(TRANSFORM rows REPLACE "FUNCTION[(]([A-Za-z0-9_]+)[)]" "#define ${prefix}\\1 ${object}.\\1\n")
  string(JOIN "" names ${rows})
  file(CONFIGURE OUTPUT "${generated}/${header}" CONTENT "/* Made of ${table}. */\n${names}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${table}")
endfunction()

# tilejit_soname(FILE VARIABLE): the name by which programs that are linked with a shared library look for it.
function(tilejit_soname file variable)
  execute_process(COMMAND "${CMAKE_READELF}" -d "${file}" OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  if(NOT dynamic MATCHES "[(]SONAME[)][^\n]*\\[([^]\n]+)\\]")
    message(FATAL_ERROR "${file} has no soname")
  endif()
  set(${variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
