# SPDX-License-Identifier: Apache-2.0
# calpe_add_folder_sources([compile option]...): adds the *.cpp files of the calling folder to the
# library's objects. A new file is picked up by the next build, without a list to edit.
function(calpe_add_folder_sources)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  target_sources(calpe_objects PRIVATE ${sources})
  if(ARGN)
    set_source_files_properties(
      ${sources} TARGET_DIRECTORY calpe_objects PROPERTIES COMPILE_OPTIONS "${ARGN}")
  endif()
endfunction()
