# SPDX-License-Identifier: Apache-2.0
"""Bugs to plant in streams."""
from mutation import Mutation

STREAMS = "unit_engine/Streams*"
FAILURES = "unit_engine/StreamFailures*"
JOBS = "unit_base/OrderedJobs*"

STREAM_MUTATIONS = [
    Mutation("jobs are delivered as they are done", "src/base/ordered_jobs.cpp",
             "return is_stopped_ || next_to_deliver_ == job.number;",
             "return is_stopped_ || next_to_deliver_ <= job.number;", (JOBS,)),
    Mutation("a job that failed is delivered", "src/base/ordered_jobs.cpp",
             "    if (is_stopped_) return false;\n  }\n  if (job.status) job.status = tried",
             "    if (is_stopped_) return false;\n  }\n  job.status = tried", (JOBS,)),
    Mutation("jobs are taken after the last one", "src/base/ordered_jobs.cpp",
             "is_ended_ = !taken || *taken != Taken::one;",
             "is_ended_ = !taken || *taken == Taken::none;", (JOBS, STREAMS)),
    Mutation("the last stripe has shards of the whole block", "src/engine/stream_shape.cpp",
             ".shard_bytes = codec_->shard_bytes_for(data_bytes)}", ".shard_bytes = block_bytes_}",
             (STREAMS,)),
    Mutation("an exact multiple of stripes has one more", "src/engine/stream_shape.cpp",
             "(object_bytes % whole_data_bytes() == 0 ? 0 : 1)", "1", (STREAMS,)),
    Mutation("a short read ends the object", "src/engine/stream_encode.cpp",
             "      if (count == 0) break;\n", "      if (count < rest.size()) {\n"
             "        filled += count;\n        break;\n      }\n", (STREAMS,)),
    Mutation("a reader may return more than it was asked for", "src/engine/stream_encode.cpp",
             "if (count > rest.size()) {", "if (count > rest.size() + 1) {", (FAILURES,)),
    Mutation("bytes before a whole stripe are written after it", "src/engine/stream_encode.cpp",
             "if (filled == 0 && bytes.size() >= space.size()) {",
             "if (bytes.size() >= space.size()) {", (STREAMS,)),
    Mutation("a lost parity block is used", "src/engine/stream_decode.cpp",
             "          is_complete = false;\n", "          parity_[i] = to;\n", (STREAMS,)),
    Mutation("parity of the previous stripe is used again", "src/engine/stream_decode.cpp",
             "    std::ranges::fill(parity_, ConstShard());\n", "", (STREAMS,)),
    Mutation("a decoder passes on lost blocks of a short stripe", "src/engine/stream_decode.cpp",
             "if (lengths.data_bytes == data_shards * lengths.shard_bytes) {", "if (true) {",
             (STREAMS,)),
    Mutation("a stream continues after its function failed", "src/engine/stream_failure.hpp",
             "    if (!done) error_ = done.error();\n", "", (FAILURES,)),
]
