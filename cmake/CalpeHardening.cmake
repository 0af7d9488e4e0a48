# SPDX-License-Identifier: Apache-2.0
# Compiler and linker defences against exploits, for everything that is built here.
# tests/use/security/checksec.py looks at the results.
#
# The linker's cost nothing: addresses of functions are resolved at the start and then read-only,
# and the stack is not executable. The command is position-independent.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
endif()

# The compiler's cost some instructions a call, so that they are a choice: the preset release and
# packages make it. Kernels have loops over shards only and no arrays to guard: they are compiled
# without the stack protector (src/backend/cpu). Machine code that the jit makes has no markers for
# indirect branches.
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
