# SPDX-License-Identifier: Apache-2.0
# calpe_add_folder_sources([compile option]...): adds the *.cpp files of the calling directory to
# the library's objects. The next build picks up new files.
# calpe_add_device_sources(): the same for backends that need more than the CPU.
function(calpe_add_device_sources)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  target_sources(calpe_device_objects PRIVATE ${sources})
endfunction()

function(calpe_add_folder_sources)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  target_sources(calpe_objects PRIVATE ${sources})
  if(ARGN)
    set_source_files_properties(
      ${sources} TARGET_DIRECTORY calpe_objects PROPERTIES COMPILE_OPTIONS "${ARGN}")
  endif()
endfunction()

# calpe_link_optional(<target> <pkg-config module> <definition> <text>): links the module and
# defines 1. If it is not found, prints the consequence and defines 0.
function(calpe_link_optional target module definition text)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND AND NOT CMAKE_CROSSCOMPILING)
    pkg_check_modules(${module} QUIET IMPORTED_TARGET ${module})
  endif()
  if(TARGET PkgConfig::${module})
    target_link_libraries(${target} PRIVATE PkgConfig::${module})
    target_compile_definitions(${target} PRIVATE ${definition}=1)
  else()
    message(STATUS "calpe: ${module} not found, so ${text}")
    target_compile_definitions(${target} PRIVATE ${definition}=0)
  endif()
endfunction()
