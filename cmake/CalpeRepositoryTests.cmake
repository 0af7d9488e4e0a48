# SPDX-License-Identifier: Apache-2.0
# Script tests: house rules, format, exported symbols, use from an outside project. tests/lint.sh is
# not included: it is slow and needs the compile commands of one build (.ci/nightly).
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(calpe_script_test name label)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
           COMMAND_EXPAND_LISTS)
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 300)
endfunction()

set(python "${Python3_EXECUTABLE}" -B)
set(tests "${PROJECT_SOURCE_DIR}/tests")

calpe_script_test(tidy lint ${python} "${tests}/tidy.py" "${PROJECT_SOURCE_DIR}")
calpe_script_test(tidy_selftest lint ${python} "${tests}/tidy_selftest.py")
calpe_script_test(language lint ${python} "${tests}/language.py" "${PROJECT_SOURCE_DIR}")
calpe_script_test(language_selftest lint ${python} "${tests}/language_selftest.py")
calpe_script_test(folders lint ${python} "${PROJECT_SOURCE_DIR}/tools/site/folders.py" --check)
# Checks that planted bugs still apply, which would otherwise fail only in the nightly run.
calpe_script_test(mutations_apply lint ${python} "${tests}/mutation/run_mutations.py" --check)
calpe_script_test(mutant_sites_selftest lint ${python}
                  "${tests}/mutation/mutant_sites_selftest.py")
calpe_script_test(format lint "${tests}/format.sh" "${PROJECT_SOURCE_DIR}")
calpe_script_test(commit_msg lint ${python} "${tests}/commit_msg_test.py")
calpe_script_test(commit_msg_history lint ${python} "${tests}/commit_msg_test.py" --history)
calpe_script_test(workflows lint ${python} "${tests}/workflows.py" "${PROJECT_SOURCE_DIR}")
calpe_script_test(release lint ${python} "${tests}/release_test.py")
set_tests_properties(commit_msg_history release PROPERTIES SKIP_RETURN_CODE 77)

calpe_script_test(symbols integration ${python} "${tests}/integration/symbols_test.py"
                  $<TARGET_FILE:calpe> "${PROJECT_SOURCE_DIR}/include")
calpe_script_test(symbols_selftest integration ${python}
                  "${tests}/integration/symbols_selftest.py")
calpe_script_test(glibc integration ${python} "${tests}/integration/glibc_test.py"
                  $<TARGET_FILE:calpe>)
calpe_script_test(console_selftest integration ${python}
                  "${tests}/integration/console_selftest.py")
calpe_script_test(library_version integration ${python}
                  "${tests}/integration/library_version_test.py" $<TARGET_FILE:calpe>
                  "${PROJECT_SOURCE_DIR}" "${PROJECT_VERSION}")
calpe_script_test(library_version_selftest integration ${python}
                  "${tests}/integration/library_version_selftest.py")
# Compares with the stored ABI description. Other builds lack the debug information for it.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  calpe_script_test(abi integration "${PROJECT_SOURCE_DIR}/packaging/abi/check.sh"
                    $<TARGET_FILE:calpe>)
  calpe_script_test(abi_selftest integration ${python} "${tests}/integration/abi_selftest.py"
                    "${PROJECT_SOURCE_DIR}")
  set_tests_properties(abi abi_selftest PROPERTIES SKIP_RETURN_CODE 77)
endif()
calpe_script_test(c_coverage integration ${python} "${tests}/integration/c_coverage_test.py"
                  "${PROJECT_SOURCE_DIR}")
calpe_script_test(coming_from integration ${python} "${tests}/integration/coming_from_test.py"
                  "${PROJECT_SOURCE_DIR}" "${CMAKE_C_COMPILER}" "${CMAKE_CXX_COMPILER}")
calpe_script_test(kernel_symbols integration ${python}
                  "${tests}/integration/kernel_symbols_test.py" $<TARGET_OBJECTS:calpe_objects>
                  $<TARGET_OBJECTS:calpe_device_objects>
                  "$<$<TARGET_EXISTS:calpe_store>:$<TARGET_OBJECTS:calpe_store>>"
                  "$<$<TARGET_EXISTS:calpe_array>:$<TARGET_OBJECTS:calpe_array>>")
calpe_script_test(site integration ${python} "${tests}/integration/site_test.py"
                  "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/site")
set_tests_properties(site PROPERTIES SKIP_RETURN_CODE 77)
calpe_script_test(outside_project integration "${tests}/integration/outside_project/run.sh"
                  "${PROJECT_BINARY_DIR}" "${PROJECT_BINARY_DIR}/outside_project")
calpe_script_test(install_components integration ${python}
                  "${tests}/integration/install_components_test.py" "${PROJECT_BINARY_DIR}"
                  "${PROJECT_BINARY_DIR}/install_components")
if(TARGET calpe_unit_tools)
  calpe_script_test(charts integration ${python} "${tests}/integration/charts_test.py"
                    $<TARGET_FILE:calpe_unit_tools>)
endif()

if(TARGET calpe_command)
  calpe_script_test(docs integration ${python} "${tests}/integration/docs_test.py"
                    "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}"
                    $<TARGET_FILE:calpe_command> "${PROJECT_BINARY_DIR}/examples")
  set_tests_properties(docs PROPERTIES SKIP_RETURN_CODE 77)
  calpe_script_test(manual integration ${python} "${tests}/integration/manual_test.py"
                    "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:calpe_command>)
  calpe_script_test(completion integration ${python} "${tests}/integration/completion_test.py"
                    "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:calpe_command>)
  set_tests_properties(completion PROPERTIES SKIP_RETURN_CODE 77)
  if(TARGET calpe_nbdkit)
    set_tests_properties(docs PROPERTIES ENVIRONMENT
                                         "CALPE_NBDKIT_PLUGIN=$<TARGET_FILE:calpe_nbdkit>")
  endif()
  calpe_script_test(equations integration ${python} "${tests}/integration/equations_test.py"
                    $<TARGET_FILE:calpe_command> "${PROJECT_SOURCE_DIR}/man/calpe-equations.1")
  calpe_script_test(devices integration ${python} "${tests}/integration/devices_test.py"
                    "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:calpe_command>)
  calpe_script_test(durability integration ${python} "${tests}/integration/durability_test.py"
                    "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:calpe_command>)
  calpe_script_test(reram integration ${python} "${tests}/integration/reram_test.py"
                    "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:calpe_command>)
  calpe_script_test(files integration ${python} "${tests}/integration/files_test.py"
                    "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:calpe_command>)
  calpe_script_test(restore_part integration ${python} "${tests}/integration/restore_part_test.py"
                    "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:calpe_command>)
  calpe_script_test(files_roots integration ${python} "${tests}/integration/roots_test.py"
                    "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:calpe_command>)
  calpe_script_test(ceph_scrub_files integration ${python}
                    "${tests}/integration/ceph_scrub_test.py" "${PROJECT_SOURCE_DIR}"
                    $<TARGET_FILE:calpe_command>)
  calpe_script_test(report measure ${python} "${tests}/measure/report_test.py"
                    "${PROJECT_SOURCE_DIR}" $<TARGET_FILE:calpe_command>)
  # Rates are compared with the memory limit, so no other test may run at the same time.
  set_tests_properties(report PROPERTIES RUN_SERIAL ON TIMEOUT 600)
  calpe_nightly(report)
  calpe_script_test(bench_smoke integration ${python} "${tests}/integration/bench_smoke.py"
                    $<TARGET_FILE:calpe_command>)
endif()
