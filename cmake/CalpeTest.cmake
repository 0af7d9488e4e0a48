# SPDX-License-Identifier: Apache-2.0
# calpe_test and calpe_c_test: one program, one ctest entry, labelled by folder.
include(CalpeGoogleTest)
find_package(rapidcheck QUIET)
# What compiles the library's texts in tests: for the target, and with OpenMP.
set(CALPE_TEST_CC "${CMAKE_C_COMPILER}" CACHE STRING "C compiler that tests of texts run")

# `tests_<label>` builds what a label needs: a sanitizer build compiles no more than it runs.
set(CALPE_TEST_LABELS unit property conformance exhaustive interop golden integration threads
                      devices speed files fuzz distributed measure array python portable use)
foreach(label IN LISTS CALPE_TEST_LABELS)
  add_custom_target(tests_${label})
endforeach()

function(calpe_register_test target label)
  add_dependencies(tests_${label} ${target})
  add_test(NAME ${target} COMMAND ${target} ${CALPE_ARGUMENTS_${target}})
  # Nothing is kept between runs, unless a test says where; a cross build compiles for its target.
  set_tests_properties(
    ${target} PROPERTIES LABELS "${label}"
                         ENVIRONMENT "CALPE_CACHE_DIR=;CALPE_CC=${CALPE_TEST_CC}")
endfunction()

# calpe_nightly(<test>...): long tests that .ci/run leaves to .ci/nightly, by a second label.
function(calpe_nightly)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS nightly)
endfunction()

function(calpe_test_settings target)
  calpe_target_defaults(${target})
  calpe_run_once(${target})
  # Where run_mutations.py looks for them, whatever folder adds them.
  set_target_properties(
    ${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${target} PRIVATE CALPE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE calpe_reram calpe_static GTest::gtest GTest::gtest_main)
  if(TARGET rapidcheck)
    target_link_libraries(${target} PRIVATE rapidcheck)
  endif()
endfunction()

# calpe_test(<name> <label> <sources>...): GoogleTest program calpe_<name>, with the internals.
function(calpe_test name label)
  set(target calpe_${name})
  add_executable(${target} ${ARGN})
  calpe_test_settings(${target})
  calpe_precompile_test(${target})
  calpe_register_test(${target} ${label})
endfunction()

# The same for C99 and the shared library: what a C caller has.
function(calpe_c_test name label)
  set(target calpe_${name})
  add_executable(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
  target_compile_options(
    ${target} PRIVATE -Wall -Wextra -pedantic -Wconversion -Wshadow
                      $<$<BOOL:${CALPE_WERROR}>:-Werror>)
  target_link_libraries(${target} PRIVATE calpe::calpe)
  # The C++ half of a sanitizer's run-time is missing from what a C compiler links.
  if(CMAKE_C_FLAGS MATCHES "-fsanitize")
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
  calpe_register_test(${target} ${label})
endfunction()
