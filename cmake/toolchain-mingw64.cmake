# SPDX-License-Identifier: Apache-2.0
# 64-bit Windows by Debian's mingw-w64, with the thread model of winpthreads, which std::thread
# needs. Built programs run under Wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(cross_triplet x86_64-w64-mingw32)
set(CMAKE_C_COMPILER ${cross_triplet}-gcc-posix)
set(CMAKE_CXX_COMPILER ${cross_triplet}-g++-posix)
set(CMAKE_RC_COMPILER ${cross_triplet}-windres)
# Programs and libraries contain the compiler's run-time libraries and need only those of Windows.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
# With a registry and drives of its own, in the build directory.
set(CMAKE_CROSSCOMPILING_EMULATOR "${CMAKE_CURRENT_LIST_DIR}/../tests/portable/wine.sh"
                                  "${CMAKE_BINARY_DIR}/wine")
set(CMAKE_FIND_ROOT_PATH /usr/${cross_triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
