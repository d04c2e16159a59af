# SPDX-License-Identifier: MIT
# The manual pages, which scripts/generate-manual makes of the command's tables and of docs/language.md. Without Python
# there are none.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  set(pages "${PROJECT_BINARY_DIR}/man")
  set(maker "${PROJECT_SOURCE_DIR}/scripts/generate-manual")
  add_custom_command(OUTPUT "${pages}/man1/tilejit.1"
    COMMAND Python3::Interpreter "${maker}" --tilejit $<TARGET_FILE:tilejit> --out "${pages}"
    DEPENDS tilejit "${maker}" "${PROJECT_SOURCE_DIR}/docs/language.md" "${PROJECT_SOURCE_DIR}/cmake/debian/changelog.in"
    VERBATIM)
  add_custom_target(manual ALL DEPENDS "${pages}/man1/tilejit.1")
  install(DIRECTORY "${pages}/" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT command OPTIONAL)
endif()
