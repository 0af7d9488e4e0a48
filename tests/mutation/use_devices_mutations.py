# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant: devices, reports, hardening. See mutations.py."""
from mutation import Mutation

QUEUE = "src/backend/opencl/opencl_queue.cpp"
JOB = "src/backend/gpu/job.cpp"
MEMORY_MAP = "src/backend/gpu/memory_map.cpp"
DIRECT_JOB = "src/backend/gpu/direct_job.cpp"
PRIVATE_FOLDER = "src/base/private_folder.cpp"
COPIES = "use_devices_batches:copies"
SMALL = "use_devices_batches:small"
STREAMS = "use_devices_streams:cuda"
CALLER_STREAM = "src/backend/cuda/cuda_caller_stream"
CALLER_QUEUE = "src/backend/opencl/opencl_caller_queue.cpp"
QUEUED_JOB = "src/backend/gpu/queued_job.cpp"
CAPTURE = "devices_queue_capture:cuda_pair"
QUEUES = "devices_queue_plan:cuda"
QUEUES_OPENCL = "devices_queue_plan:pthread/*waits_for_nothing*"
REPORT = "use_security_report"
FOLDER = "unit_base/PrivateFolder.*"

USE_DEVICES = [
    Mutation("devices: launches after the first read the table of shards from its start", QUEUE,
             "(launch.shards.at - table_at) / sizeof(cl_ulong)", "std::uint64_t{0}", (COPIES,)),
    Mutation("devices: the table of a batch may be larger than one allocation", DIRECT_JOB,
             "const std::size_t most = core_.stripes_max(kernel_.shards());",
             "const std::size_t most = batch.stripe_count;", (SMALL,)),
    Mutation("devices: coding does not wait for the caller's streams", JOB,
             "  if (shards.is_any_mapped) {\n", "  if (shards.is_any_mapped && false) {\n",
             (STREAMS,)),
    Mutation("devices: copies do not wait for the caller's streams", MEMORY_MAP,
             "  CALPE_CHECK(context_.wait());\n", "", (STREAMS,)),
    Mutation("queues: kernels do not wait for the caller's stream", f"{CALLER_STREAM}.hpp",
             "return launch_in(context_, stream_,", "return launch_in(context_, nullptr,",
             (CAPTURE,)),
    Mutation("queues: the table is written in another stream", f"{CALLER_STREAM}.hpp",
             "return writer_.write(context_, stream_, to, numbers);",
             "return writer_.write(context_, nullptr, to, numbers);", (CAPTURE,)),
    Mutation("queues: the table is copied from memory that is gone", f"{CALLER_STREAM}.cpp",
             "  const auto& module = static_cast<const CudaModule&>(*module_);\n",
             "  if (!numbers.empty()) {\n"
             "    return context.call(context.api().memcpy_htod_async, to.at,\n"
             "                        static_cast<const void*>(numbers.data()),\n"
             "                        numbers.size_bytes(), stream);\n"
             "  }\n"
             "  const auto& module = static_cast<const CudaModule&>(*module_);\n",
             (f"{CAPTURE}/*graph*",)),
    Mutation("queues: the caller's stream is waited for", QUEUED_JOB,
             "  QueuedJob job(core_, own, batch);\n",
             "  QueuedJob job(core_, own, batch);\n  CALPE_CHECK(core_.context.wait());\n",
             (f"{CAPTURE}/*ordered_in*",)),
    Mutation("queues: the end of a shard may be elsewhere", QUEUED_JOB,
             "if (first && core_.memory.find(last_byte)) return *first;",
             "if (first && last_byte != nullptr) return *first;", (f"{QUEUES}/*reach*",)),
    Mutation("queues: commands of a queue out of order do not wait", CALLER_QUEUE,
             "  if (!rules_.is_out_of_order) return Done{};\n",
             "  if (!rules_.is_out_of_order || queue_ != nullptr) return Done{};\n",
             (QUEUES_OPENCL,)),
    Mutation("report: names of files hold what the run file says",
             "tools/calpe/report/report_charts.cpp",
             "    each.name = file + \".svg\";\n", "    each.name += \".svg\";\n", (REPORT,)),
    Mutation("report: text goes to the terminal as it is", "tools/calpe/report/report_run.cpp",
             "const std::string key = printable(item.key(), key_bytes_max);",
             "const std::string key = item.key();", (REPORT,)),
    Mutation("folders: links are followed", PRIVATE_FOLDER,
             "O_RDONLY | O_NOFOLLOW | O_CLOEXEC", "O_RDONLY | O_CLOEXEC", (FOLDER,)),
    Mutation("folders: dumps go where others may write", PRIVATE_FOLDER,
             "  if ((about.st_mode & written_by_others) != 0) {\n",
             "  if ((about.st_mode & written_by_others) == 07777) {\n", ("unit_base/Dump.*",)),
    Mutation("hardening: addresses of functions can be written", "cmake/CalpeHardening.cmake",
             "-z,relro,-z,now,", "-z,relro,-z,lazy,", ("use_security:checksec",)),
]
