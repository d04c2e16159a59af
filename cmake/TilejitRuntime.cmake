# SPDX-License-Identifier: MIT
# libtilejit-runtime: what runtime.h declares, from the same objects as libtilejit, without those that compile. How it is
# installed and found, too, so that a build of it alone is complete:
#
#   lib/libtilejit-runtime.so.0, .so     the library
#   lib/cmake/tilejit-runtime/           find_package(tilejit-runtime): tilejit::runtime
#   lib/pkgconfig/tilejit-runtime.pc     pkg-config tilejit-runtime
#   include/tilejit/runtime.h            its header
include(CMakePackageConfigHelpers)
set(runtime_map "${PROJECT_SOURCE_DIR}/cmake/tilejit-runtime.map")

add_library(libtilejit_runtime SHARED launch/api/runtime.c)
target_link_libraries(libtilejit_runtime PRIVATE tilejit_options tilejit_base tilejit_object tilejit_rt tilejit_launch)
target_include_directories(libtilejit_runtime PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
set_target_properties(libtilejit_runtime PROPERTIES OUTPUT_NAME tilejit-runtime EXPORT_NAME runtime
  VERSION ${PROJECT_VERSION} SOVERSION 0 LINK_DEPENDS "${runtime_map}")
target_link_options(libtilejit_runtime PRIVATE "-Wl,--version-script=${runtime_map}" -Wl,--gc-sections)
if(NOT (TILEJIT_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "Clang"))
  target_link_options(libtilejit_runtime PRIVATE -Wl,--no-undefined)
endif()

# --- installation ---

set(runtime_package "${CMAKE_INSTALL_LIBDIR}/cmake/tilejit-runtime")
install(TARGETS libtilejit_runtime EXPORT tilejit-runtime
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT runtime_development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/include/tilejit/runtime.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tilejit" COMPONENT runtime_development)
install(EXPORT tilejit-runtime NAMESPACE tilejit:: FILE tilejit-runtimeConfig.cmake DESTINATION "${runtime_package}"
  COMPONENT runtime_development)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tilejit-runtimeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tilejit-runtimeConfigVersion.cmake" DESTINATION "${runtime_package}"
  COMPONENT runtime_development)

file(RELATIVE_PATH TILEJIT_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file(cmake/tilejit-runtime.pc.in "${PROJECT_BINARY_DIR}/tilejit-runtime.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tilejit-runtime.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT runtime_development)
