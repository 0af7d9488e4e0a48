# SPDX-License-Identifier: Apache-2.0
# Device setups: environment variables select the device and how it works. cuda is the CUDA driver
# API over a PTX interpreter (tests/ptx_interpreter). vulkan is lavapipe, with Khronos' validation.
set(setup_pthread CALPE_TEST_BACKEND=opencl:0 POCL_DEVICES=pthread)
set(setup_all ${setup_pthread} CALPE_TEST_ALL_PATTERNS=1) # what others have a part of
set(setup_samples ${setup_pthread} CALPE_TEST_SAMPLES=100)
set(setup_basic CALPE_TEST_BACKEND=opencl:0 POCL_DEVICES=basic)
set(setup_part CALPE_TEST_BACKEND=opencl:0/2.1 POCL_DEVICES=pthread)
set(setup_copies CALPE_TEST_BACKEND=opencl:0 POCL_DEVICES=pthread CALPE_DEVICE_COPIES=1)
set(setup_two CALPE_TEST_BACKEND=opencl:0+opencl:1 "POCL_DEVICES=basic pthread")
set(setup_three CALPE_TEST_BACKEND=opencl:0+opencl:1+opencl:2
                "POCL_DEVICES=basic pthread pthread")
set(setup_cuda CALPE_TEST_BACKEND=cuda:0 CALPE_PTX_DEVICES=1
               "CALPE_CUDA_DRIVER=$<TARGET_FILE:calpe_ptx_interpreter>")
set(setup_cuda_pair CALPE_TEST_BACKEND=cuda:0 CALPE_PTX_DEVICES=2
                    "CALPE_CUDA_DRIVER=$<TARGET_FILE:calpe_ptx_interpreter>")
set(setup_vulkan CALPE_TEST_BACKEND=vulkan:0 CALPE_VULKAN_CPU=1
                 VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation)
set(setup_vulkan_compiled ${setup_vulkan})
# With the fault library (opencl_faults.h); `small`: a device with low limits.
set(setup_faulty "CALPE_OPENCL_LIBRARY=$<TARGET_FILE:calpe_opencl_faults>" ${setup_pthread})
set(setup_faulty_copies ${setup_faulty} CALPE_DEVICE_COPIES=1)
set(setup_small ${setup_faulty_copies} CALPE_CL_ALLOCATION_MAX=1048576 CALPE_CL_GROUP_MAX=4)

# As most drivers of GPUs: words of 16 and 4 bytes, groups of 64 and 256, memory of its own.
set(setup_gpu ${setup_faulty} CALPE_CL_GPU=1)
set(setup_integrated ${setup_faulty} CALPE_CL_GPU=2)

# calpe_device_tests(<target> <set-up>... [ARGUMENTS ...]): one ctest entry per set-up.
function(calpe_device_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ARGUMENTS")
  foreach(setup IN LISTS arg_UNPARSED_ARGUMENTS)
    set(name ${target}_${setup})
    add_test(NAME ${name} COMMAND ${target} ${arg_ARGUMENTS})
    # Compiled kernels stay in the build tree for all setups, because driver compilers are slow.
    set(cache "${CMAKE_CURRENT_BINARY_DIR}/cache")
    set(environment ${setup_${setup}} CALPE_DEVICE_TUNE=0 "CALPE_CACHE_DIR=${cache}"
                    "POCL_CACHE_DIR=${cache}/pocl")
    set_tests_properties(
      ${name} PROPERTIES LABELS devices TIMEOUT 600 ENVIRONMENT "${environment}"
                         FAIL_REGULAR_EXPRESSION "Validation (Error|Warning)|VUID-")
  endforeach()
endfunction()
