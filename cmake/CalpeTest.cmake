# SPDX-License-Identifier: Apache-2.0
# calpe_test and calpe_c_test: one program, one ctest entry, labelled by directory.
include(CalpeGoogleTest)
find_package(rapidcheck QUIET)
# Other cross compilers find the host's JSON headers by themselves.
if(WIN32)
  find_path(CALPE_JSON_INCLUDE nlohmann/json.hpp NO_CMAKE_FIND_ROOT_PATH)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/json")
  file(CREATE_LINK "${CALPE_JSON_INCLUDE}/nlohmann" "${PROJECT_BINARY_DIR}/json/nlohmann" SYMBOLIC)
endif()
# Compiler of emitted code in tests: builds for the target, and with OpenMP.
set(CALPE_TEST_CC "${CMAKE_C_COMPILER}" CACHE STRING "C compiler that tests of texts run")

# `tests_<label>` builds the tests of one label, so that sanitizer builds compile only those.
set(CALPE_TEST_LABELS unit property conformance exhaustive interop golden integration threads
                      devices speed files fuzz distributed measure array python portable use)
foreach(label IN LISTS CALPE_TEST_LABELS)
  add_custom_target(tests_${label})
endforeach()

# Any test may use an OpenCL device, and PoCL leaks memory that is not ours.
set(CALPE_LEAKS_KNOWN "suppressions=${PROJECT_SOURCE_DIR}/tests/leaks_known.txt")

function(calpe_register_test target label)
  add_dependencies(tests_${label} ${target})
  add_test(NAME ${target} COMMAND ${target} ${CALPE_ARGUMENTS_${target}})
  # No kernel cache between runs unless a test sets one; a cross build compiles for its target.
  set_tests_properties(
    ${target}
    PROPERTIES
      LABELS "${label}"
      ENVIRONMENT "CALPE_CACHE_DIR=;CALPE_CC=${CALPE_TEST_CC};LSAN_OPTIONS=${CALPE_LEAKS_KNOWN}")
endfunction()

# calpe_nightly(<test>...): adds the label nightly, for long tests that only .ci/nightly runs.
function(calpe_nightly)
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS nightly)
endfunction()

function(calpe_test_settings target)
  calpe_target_defaults(${target})
  calpe_run_once(${target})
  # One output directory for all, which run_mutations.py expects.
  if(NOT WIN32)
    set_target_properties(
      ${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  endif()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  if(WIN32)
    target_include_directories(${target} SYSTEM PRIVATE "${PROJECT_BINARY_DIR}/json")
  endif()
  target_compile_definitions(${target} PRIVATE CALPE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE calpe_reram calpe_static GTest::gtest GTest::gtest_main)
  if(TARGET rapidcheck)
    target_link_libraries(${target} PRIVATE rapidcheck)
  endif()
endfunction()

# calpe_test(<name> <label> <sources>...): GoogleTest program calpe_<name>, with internals.
function(calpe_test name label)
  set(target calpe_${name})
  add_executable(${target} ${ARGN})
  calpe_test_settings(${target})
  calpe_precompile_test(${target})
  calpe_register_test(${target} ${label})
endfunction()

# The same for C99 and the shared library, as a C caller uses it.
function(calpe_c_test name label)
  set(target calpe_${name})
  add_executable(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
  target_compile_options(
    ${target} PRIVATE -Wall -Wextra -pedantic -Wconversion -Wshadow
                      $<$<BOOL:${CALPE_WERROR}>:-Werror>)
  target_link_libraries(${target} PRIVATE calpe::calpe)
  # A C compiler does not link the C++ part of the sanitizer run-time.
  if(CMAKE_C_FLAGS MATCHES "-fsanitize")
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
  calpe_register_test(${target} ${label})
endfunction()
