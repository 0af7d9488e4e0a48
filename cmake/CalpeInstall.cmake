# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: library, headers, command, man pages, and the two ways in
# which another project finds them.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/calpe")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(TARGETS calpe EXPORT calpeTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/calpe" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(TARGET calpe_command)
  install(TARGETS calpe_command)
  install(FILES "$<TARGET_FILE_DIR:calpe_command>/cauchyrs" TYPE BIN)
  # Where the two shells look by themselves, below /usr.
  set(completion "${PROJECT_SOURCE_DIR}/tools/completion")
  install(FILES "${completion}/calpe.bash" RENAME calpe
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${completion}/_calpe"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
endif()
file(GLOB man_pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/man/*.1")
if(man_pages)
  install(FILES ${man_pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()

install(EXPORT calpeTargets NAMESPACE calpe:: DESTINATION "${package_dir}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/calpeConfig.cmake.in" "${PROJECT_BINARY_DIR}/calpeConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break the C++ source.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/calpeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/calpeConfig.cmake"
              "${PROJECT_BINARY_DIR}/calpeConfigVersion.cmake" DESTINATION "${package_dir}")

# Relative to the .pc file, so that an installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
           OUTPUT_VARIABLE relative_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
           OUTPUT_VARIABLE relative_includedir)
file(RELATIVE_PATH relative_prefix "/${pkgconfig_dir}" "/")
string(REGEX REPLACE "/$" "" relative_prefix "${relative_prefix}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/calpe.pc.in" "${PROJECT_BINARY_DIR}/calpe.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/calpe.pc" DESTINATION "${pkgconfig_dir}")
