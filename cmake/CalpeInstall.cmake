# SPDX-License-Identifier: Apache-2.0
# Installation of library, headers, command, man pages, CMake package and pkg-config file. Each file
# belongs to one component: runtime, dev, tools or plugins (docs/packages.md).
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/calpe")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(TARGETS calpe EXPORT calpeTargets LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev)
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
