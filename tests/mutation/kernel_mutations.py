# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant: kernels of devices, their launches, spills and waits. See mutations.py."""
from mutation import Mutation

DEVICE_CALLS = "devices_failover:cuda/*every_call*"
DEVICE_LARGE = "devices_lengths:pthread/*large_and_odd*"
DEVICE_SPILLS = "devices_opencl_driver:gpu/OpenClSpills.*"
DEVICE_OPENCL = "conformance_emitted_device_opencl"

KERNELS = [
    Mutation("every piece of a wide grid is the first", "src/backend/gpu/launcher.cpp",
             ".first = geometry.offset + range.begin +", ".first = geometry.offset +",
             (DEVICE_LARGE,)),
    Mutation("the launches of a batch use the shards of the first", "src/backend/gpu/launcher.cpp",
             "launch.shards.at += stripe *", "launch.shards.at += 0 * stripe *",
             ("use_devices_batches:copies",)),
    Mutation("only the first row group is computed", "src/backend/gpu/launcher.cpp",
             "launch.row_groups = range.row_groups;", "launch.row_groups = 1;", (DEVICE_CALLS,)),
    Mutation("row groups of PTX run one after the other", "src/emit/ptx_lines.cpp",
             "    line(\"rem.u32 row_group, block, \", count);\n"
             "    line(\"div.u32 block, block, \", count);\n",
             "    line(\"mov.u32 row_groups, %nctaid.x\");\n"
             "    line(\"div.u32 row_groups, row_groups, \", count);\n"
             "    line(\"div.u32 row_group, block, row_groups\");\n"
             "    line(\"rem.u32 block, block, row_groups\");\n", ("device_predict",)),
    Mutation("prediction: one row group uses the L2 cache", "tools/calpe/predict/prediction.cpp",
             "static_cast<double>(counts.row_groups) + m / k", "1 + m / k", ("device_predict",)),
    Mutation("slices of a shard are exchanged in another order", "src/emit/device_walk.cpp",
             "std::pair{2U, 0x33333333U}", "std::pair{2U, 0x3333333FU}", (DEVICE_OPENCL,)),
    Mutation("a kernel that spills is used", "src/backend/gpu/variant_build.cpp",
             "if (obtained && (spill_bytes == 0 ||", "if (obtained && (true ||",
             (DEVICE_SPILLS,)),
    Mutation("spills of CUDA are not asked for", "src/backend/cuda/cuda_queue.cpp",
             "static_cast<std::size_t>(std::max(local_bytes, 0))", "std::size_t{0}",
             ("unit_backend/CudaDriver*",)),
    Mutation("spills of OpenCL are not asked for", "src/backend/opencl/opencl_driver.cpp",
             "if (!is_cpu_) built.count_spills(device_);", "", (DEVICE_SPILLS,)),
    Mutation("a wait sleeps for its first millisecond", "src/backend/gpu/poll_pace.hpp",
             "if (pause < shortest) return std::chrono::nanoseconds(0);",
             "if (pause < shortest) return std::chrono::microseconds(200);",
             ("unit_backend/PollPaceTest.*",)),
]
