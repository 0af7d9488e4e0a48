# SPDX-License-Identifier: Apache-2.0
# Installation of library, headers, command, man pages, CMake package and pkg-config file. Each file
# belongs to one component: runtime, dev, tools or plugins (docs/packages.md).
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/calpe")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# Windows has the DLL (RUNTIME) and its import library (ARCHIVE) in place of the LIBRARY.
install(TARGETS calpe EXPORT calpeTargets RUNTIME COMPONENT runtime ARCHIVE COMPONENT dev
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev)
# In an export of its own, because only this one has dependencies.
set(static_dependencies)
set(static_libraries)
if(CALPE_STATIC)
  install(TARGETS calpe_static EXPORT calpeStaticTargets ARCHIVE COMPONENT dev)
  install(EXPORT calpeStaticTargets NAMESPACE calpe:: DESTINATION "${package_dir}" COMPONENT dev)
  get_target_property(linked calpe_static INTERFACE_LINK_LIBRARIES)
  set(static_dependencies Threads)
  if("asmjit::asmjit" IN_LIST linked)
    list(APPEND static_dependencies asmjit)
    string(APPEND static_libraries " -lasmjit")
  endif()
  # For linkers of C programs: the C++ library, and what Linux before glibc 2.34 has apart.
  if("c++" IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    string(APPEND static_libraries " -lc++")
  else()
    string(APPEND static_libraries " -lstdc++ -lm")
  endif()
  if(NOT WIN32)
    string(APPEND static_libraries " -pthread")
  endif()
  foreach(library IN LISTS calpe_atomic_libraries CMAKE_DL_LIBS)
    string(APPEND static_libraries " -l${library}")
  endforeach()
  set(static_libraries "Libs.private:${static_libraries}\n")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/calpe" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT dev FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(TARGET calpe_command)
  install(TARGETS calpe_command COMPONENT tools)
  install(FILES "$<TARGET_FILE_DIR:calpe_command>/cauchyrs" TYPE BIN COMPONENT tools)
  # The directories that bash and zsh search below /usr.
  set(completion "${PROJECT_SOURCE_DIR}/tools/completion")
  install(FILES "${completion}/calpe.bash" RENAME calpe
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT tools)
  install(FILES "${completion}/_calpe"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions" COMPONENT tools)
  file(GLOB man_pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/man/*.1")
  set(plugin_page "${PROJECT_SOURCE_DIR}/man/nbdkit-calpe-plugin.1")
  list(REMOVE_ITEM man_pages "${plugin_page}")
  install(FILES ${man_pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tools)
  install(FILES "${plugin_page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT plugins)
endif()

install(EXPORT calpeTargets NAMESPACE calpe:: DESTINATION "${package_dir}" COMPONENT dev)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/calpeConfig.cmake.in" "${PROJECT_BINARY_DIR}/calpeConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break the C++ source.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/calpeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/calpeConfig.cmake"
              "${PROJECT_BINARY_DIR}/calpeConfigVersion.cmake"
        DESTINATION "${package_dir}" COMPONENT dev)

# Relative to the .pc file, so that an installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
           OUTPUT_VARIABLE relative_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
           OUTPUT_VARIABLE relative_includedir)
file(RELATIVE_PATH relative_prefix "/${pkgconfig_dir}" "/")
string(REGEX REPLACE "/$" "" relative_prefix "${relative_prefix}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/calpe.pc.in" "${PROJECT_BINARY_DIR}/calpe.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/calpe.pc" DESTINATION "${pkgconfig_dir}" COMPONENT dev)
