# SPDX-License-Identifier: Apache-2.0
# find_package(opspace CONFIG REQUIRED PATHS <this folder>), then target_link_libraries(... opspace::opspace).
add_library(opspace::opspace SHARED IMPORTED)
set_target_properties(opspace::opspace PROPERTIES
  IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/libopspace.so"
  IMPORTED_SONAME "libopspace.so.1"
  INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}")
add_library(opspace::static STATIC IMPORTED)
set_target_properties(opspace::static PROPERTIES
  IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/libopspace.a"
  INTERFACE_LINK_LIBRARIES m
  INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}")
