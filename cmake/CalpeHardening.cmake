# SPDX-License-Identifier: Apache-2.0
# Compiler and linker defences against exploits, for all targets. tests/use/security/checksec.py
# checks the results.
#
# The linker flags cost nothing: function addresses are resolved at startup and then read-only, and
# the stack is not executable. The command is position-independent.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
endif()

# The compiler flags cost some instructions per call, so they are optional; the preset release and
# the packages enable them. Kernels have no arrays on the stack to guard and are compiled without
# the stack protector (src/backend/cpu). Machine code of the jit has no markers for indirect
# branches.
option(CALPE_HARDENING "Compile with stack protector, FORTIFY_SOURCE and control-flow protection"
       OFF)
if(CALPE_HARDENING AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  add_compile_options(
    -fstack-protector-strong -fstack-clash-protection
    "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    add_compile_options(-fcf-protection)
  endif()
endif()
