# SPDX-License-Identifier: Apache-2.0
# xxHash as a header only (its user defines XXH_INLINE_ALL), without a run-time dependency. The
# header is copied to the build directory, because a cross compiler must not see the rest of the
# host's include directory.
find_path(xxHash_SOURCE_DIR xxhash.h NO_CMAKE_FIND_ROOT_PATH)
mark_as_advanced(xxHash_SOURCE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xxHash REQUIRED_VARS xxHash_SOURCE_DIR)

if(xxHash_FOUND AND NOT TARGET xxHash::xxHash)
  set(xxHash_include "${PROJECT_BINARY_DIR}/xxhash")
  configure_file("${xxHash_SOURCE_DIR}/xxhash.h" "${xxHash_include}/xxhash.h" COPYONLY)
  add_library(xxHash::xxHash INTERFACE IMPORTED)
  target_include_directories(xxHash::xxHash SYSTEM INTERFACE "${xxHash_include}")
endif()
