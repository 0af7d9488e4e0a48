# SPDX-License-Identifier: Apache-2.0
# Language level and warnings of our own targets; never passed on to those who link with us.
# calpe_target_defaults(<target> [standard]): C++20 unless others' headers cannot be read as that.
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
  # g++ 12 finds overflows inside std::string itself when it is moved; later versions do not.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow
                                             -Wno-stringop-overread -Wno-array-bounds)
  endif()
  # libstdc++ 12 sorts with a function that it deprecates itself; newer clangs look inside.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER 15)
    target_compile_options(${target} PRIVATE -Wno-deprecated-declarations)
  endif()
endfunction()
