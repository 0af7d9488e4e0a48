# SPDX-License-Identifier: Apache-2.0
# CALPE_WITHOUT leaves kernel techniques out of the library (docs/portability.md). Names of other
# processors are accepted, so that one list serves all builds.
set(CALPE_WITHOUT "" CACHE STRING "Kernel techniques to leave out, separated by commas")
set(calpe_techniques ssse3 avx2 avx2-gfni avx512 avx512-gfni neon additive-fft jit)
string(REPLACE "," ";" calpe_without "${CALPE_WITHOUT}")
foreach(name IN LISTS calpe_without)
  if(NOT name IN_LIST calpe_techniques)
    list(JOIN calpe_techniques ", " known)
    message(FATAL_ERROR "CALPE_WITHOUT has \"${name}\"; expected some of: ${known}")
  endif()
endforeach()

# calpe_define_techniques(<source>...): defines CALPE_WITHOUT_AVX2_GFNI and so on for omitted
# techniques, and the list itself, for these sources. A full build defines none.
function(calpe_define_techniques)
  if(NOT calpe_without)
    return()
  endif()
  list(JOIN calpe_without "," names)
  set(definitions "CALPE_WITHOUT=\"${names}\"")
  foreach(name IN LISTS calpe_without)
    string(TOUPPER "${name}" definition)
    string(REPLACE "-" "_" definition "${definition}")
    list(APPEND definitions CALPE_WITHOUT_${definition})
  endforeach()
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY calpe_objects APPEND
               PROPERTY COMPILE_DEFINITIONS ${definitions})
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY calpe_objects
               PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
