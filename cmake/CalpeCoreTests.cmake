# SPDX-License-Identifier: Apache-2.0
# Tests for CALPE_CORE_ONLY: those that need neither the omitted backends nor the command, its
# libraries and the plugins.
foreach(name IN ITEMS base gf code plan ir opt backend engine reram)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS
       "${CMAKE_CURRENT_SOURCE_DIR}/unit/${name}/*_test.cpp")
  list(FILTER sources EXCLUDE REGEX "/backend/(cuda_|openmp_|device_programs_)")
  calpe_test(unit_${name} unit ${sources})
endforeach()
foreach(test IN ITEMS conformance/backend_conformance conformance/registry golden/vectors
                      property/codec_property property/no_allocation)
  string(REPLACE "/" "_" name "${test}")
  cmake_path(GET test PARENT_PATH label)
  calpe_test(${name} ${label} "${CMAKE_CURRENT_SOURCE_DIR}/${test}_test.cpp")
endforeach()
file(GLOB c_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/c/*_test.c")
foreach(source IN LISTS c_sources)
  cmake_path(GET source STEM name)
  string(REGEX REPLACE "_test$" "" name "${name}")
  calpe_c_test(c_${name} unit "${source}")
  set_tests_properties(calpe_c_${name} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()
