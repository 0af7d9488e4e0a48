# SPDX-License-Identifier: Apache-2.0
# Tests for CALPE_CORE_ONLY: those that need neither the omitted backends nor the command, its
# libraries and the plugins.
set(left_out "/backend/(cuda_|openmp_|vulkan_|device_programs_)")
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # Tests of what only Linux has, or that use files of base/.
  string(APPEND left_out "|/backend/jit_|/reram/parameters_"
         "|/base/(files|private_folder|process_fork|settings_file|subprocess|threads)_")
endif()
set(portable)
foreach(name IN ITEMS base gf code plan ir opt backend engine reram)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
       "${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}/*_test.cpp")
  list(FILTER sources EXCLUDE REGEX "${left_out}")
  calpe_test(unit_${name} unit ${sources})
  list(APPEND portable calpe_unit_${name})
endforeach()
set(tests conformance/backend_conformance conformance/registry golden/vectors)
if(TARGET rapidcheck)
  list(APPEND tests property/codec_property property/no_allocation)
endif()
foreach(test IN LISTS tests)
  string(REPLACE "/" "_" name "${test}")
  cmake_path(GET test PARENT_PATH label)
  calpe_test(${name} ${label} "${CMAKE_CURRENT_SOURCE_DIR}/${test}_test.cpp")
endforeach()
list(APPEND portable calpe_conformance_backend_conformance calpe_conformance_registry
     calpe_golden_vectors)
file(GLOB c_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/c/*_test.c")
foreach(source IN LISTS c_sources)
  cmake_path(GET source STEM name)
  string(REGEX REPLACE "_test$" "" name "${name}")
  calpe_c_test(c_${name} unit "${source}")
  set_tests_properties(calpe_c_${name} PROPERTIES SKIP_RETURN_CODE 77)
  list(APPEND portable calpe_c_${name})
endforeach()
# Cross builds run these (docs/portability.md).
foreach(target IN LISTS portable)
  add_dependencies(tests_portable ${target})
  set_property(TEST ${target} APPEND PROPERTY LABELS portable)
endforeach()
if(MINGW)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME dll COMMAND "${Python3_EXECUTABLE}" -B
                            "${CMAKE_CURRENT_SOURCE_DIR}/portable/dll_test.py" "${CMAKE_OBJDUMP}"
                            $<TARGET_FILE:calpe> "${PROJECT_SOURCE_DIR}/include")
  set_tests_properties(dll PROPERTIES LABELS portable)
endif()
