# SPDX-License-Identifier: Apache-2.0
# GoogleTest from the system, or built from Debian's copy of its source if there is no library for
# the target architecture.
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  set(BUILD_GMOCK OFF)
  set(INSTALL_GTEST OFF)
  add_subdirectory(/usr/src/googletest "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  # The tests use matchers of GoogleMock, which are all in its headers.
  target_include_directories(gtest SYSTEM INTERFACE /usr/src/googletest/googlemock/include)
  if(NOT TARGET GTest::gtest)
    add_library(GTest::gtest ALIAS gtest)
    add_library(GTest::gtest_main ALIAS gtest_main)
  endif()
endif()
