# SPDX-License-Identifier: Apache-2.0
# Language level and warnings of our own targets, not propagated to users.
# calpe_target_defaults(<target> [standard]): C++20 unless third-party headers need another one.
function(calpe_target_defaults target)
  set(standard 20)
  if(ARGC GREATER 1)
    set(standard ${ARGV1})
  endif()
  target_compile_features(${target} PRIVATE cxx_std_${standard})
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  calpe_unity(${target})
  target_compile_options(
    ${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                      $<$<BOOL:${CALPE_WERROR}>:-Werror>)
  # g++ 12 reports false overflows in moves of std::string; later versions do not.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow
                                             -Wno-stringop-overread -Wno-array-bounds)
  endif()
  # libstdc++ 12 uses a function in std::sort that it deprecates; newer clangs report it.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER 15)
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  endif()
endfunction()
