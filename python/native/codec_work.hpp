// SPDX-License-Identifier: Apache-2.0
// Work of a codec on shards in Python objects. Holds all buffers, then releases the interpreter
// lock, then does the work.
#pragma once
#include <calpe/codec.hpp>

#include "native/failure.hpp"

namespace calpe::python {

// If so, the length of parity does not give that of data.
inline bool has_longer_parity(const CodeSpec& spec) noexcept {
  return spec.layout == Layout::packets || spec.word_bits == 16;
}

// `stores`: "automatic", "cached" or "streaming". If `outputs` is None, creates a list of
// bytearray. Returns the outputs.
py::object encode(const Codec& codec, py::handle data, py::object parity, py::handle stores);
py::object decode(const Codec& codec, const Plan& plan, py::handle survivors, py::object rebuilt,
                  py::handle stores);
py::object run(const Codec& codec, const Plan& plan, py::handle inputs, py::object outputs,
               bool accumulate, py::handle stores);

// `content`: one buffer. If `shard_bytes` is None, it is the shortest length for that buffer.
// `parity` of decode_object: m entries, None where the plan reads none.
py::list split(const Codec& codec, py::handle content, py::handle shard_bytes);
py::object encode_object(const Codec& codec, py::handle content, py::handle shard_bytes,
                         py::object parity, py::handle stores);
void decode_object(const Codec& codec, const Plan& plan, py::handle content, py::handle shard_bytes,
                   py::handle parity, py::handle stores);

// `stripes`: any iterable of (inputs, outputs).
void run_batch(const Codec& codec, const Plan& plan, py::handle stripes, bool accumulate,
               py::handle stores);

// `shards`: all k+m, None if missing. If `rebuilt` is None, creates a list of bytearray. Returns
// the rebuilt shards, ascending. `shard_bytes`: None, or the length of a data shard.
py::object rebuild(const Codec& codec, py::handle shards, py::object rebuilt, bool data_only,
                   py::handle shard_bytes, py::handle stores);
// `stripes`: any iterable of such lists, all with the same missing shards.
py::list rebuild_batch(const Codec& codec, py::handle stripes, bool data_only,
                       py::handle shard_bytes, py::handle stores);

// Raises the error of a stream's options.
void check_stream(const Codec& codec, py::handle block_bytes);
// read(view) returns the number of bytes; write(number, data_bytes, shard_bytes, views).
std::uint64_t encode_stream(const Codec& codec, py::handle block_bytes, py::handle depth,
                            const py::function& read, const py::function& write);
// read(stripe, shard, offset, view) returns False if the block is lost; write(view).
void decode_stream(const Codec& codec, py::handle block_bytes, py::handle depth,
                   py::handle object_bytes, const py::function& read, const py::function& write);

// Reads "automatic", "cached" or "streaming".
Stores stores_of(py::handle name);

// `change`: (data_index, offset, shard_bytes, parity_indices). If `after` is None, `before` is the
// delta.
void update(const Codec& codec, const py::tuple& change, py::handle before, py::handle after,
            py::handle parity);

py::tuple verify(const Codec& codec, py::handle data, py::handle parity);
py::list tag(const Codec& codec, py::handle shards);
py::list encode_tagged(const Codec& codec, py::handle data, py::handle parity);
// A shard that is None is missing.
py::tuple locate(const Codec& codec, py::handle shards, py::handle missing);

void add_shard(py::handle target, py::handle addend);

}  // namespace calpe::python
