# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: parsing the standard library and GoogleTest takes half of a build. The
# library uses them only in the clang and cross builds; the others, and tests/lint.sh, check that
# every file includes what it uses. Kernel files never use them (see backend/cpu).

# g++ 12 reports warnings about system headers if they are precompiled.
function(calpe_quieten_precompiled target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-array-bounds)
  endif()
endfunction()

function(calpe_precompile_library target)
  if(CALPE_PRECOMPILE)
    target_precompile_headers(
      ${target} PRIVATE <algorithm> <array> <cstddef> <cstdint> <memory> <mutex> <optional> <span>
      <string> <string_view> <thread> <unordered_map> <utility> <vector>)
    calpe_quieten_precompiled(${target})
  endif()
endfunction()

# One set for all test programs, which must have equal flags.
function(calpe_precompile_test target)
  if(NOT TARGET calpe_test_headers)
    file(WRITE "${PROJECT_BINARY_DIR}/test_headers.cpp.new" "int main() {}\n")
    file(COPY_FILE "${PROJECT_BINARY_DIR}/test_headers.cpp.new"
         "${PROJECT_BINARY_DIR}/test_headers.cpp" ONLY_IF_DIFFERENT)
    add_executable(calpe_test_headers EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/test_headers.cpp")
    calpe_test_settings(calpe_test_headers)
    calpe_quieten_precompiled(calpe_test_headers)
    target_precompile_headers(
      calpe_test_headers PRIVATE <gtest/gtest.h> <algorithm> <array> <memory> <random> <span>
      <string> <vector>)
  endif()
  calpe_quieten_precompiled(${target})
  target_precompile_headers(${target} REUSE_FROM calpe_test_headers)
endfunction()
