# SPDX-License-Identifier: Apache-2.0
# Turns examples/gpus into a header, so that an installed calpe can predict without the sources.
# Usage: calpe_known_gpus(<source>) creates calpe/predict/known_gpu_files.hpp and adds its directory
# to the include path of that source.
function(calpe_known_gpus source)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/gpus/*.gpu")
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    cmake_path(GET file FILENAME name)
    file(READ "${file}" text)
    string(APPEND entries "    {\"${name}\", R\"gpu(${text})gpu\"},\n")
  endforeach()
  set(KNOWN_GPUS "${entries}")
  configure_file("${PROJECT_SOURCE_DIR}/tools/known_gpus.hpp.in"
                 "${PROJECT_BINARY_DIR}/known_gpus/calpe/predict/known_gpu_files.hpp" @ONLY)
  set_source_files_properties("${source}" PROPERTIES INCLUDE_DIRECTORIES
                                                     "${PROJECT_BINARY_DIR}/known_gpus")
endfunction()
