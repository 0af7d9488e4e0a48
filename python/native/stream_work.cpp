// SPDX-License-Identifier: Apache-2.0
// Streams with Python callables for input and output, which any thread of a stream may call.
#include <calpe/streams.hpp>

#include "native/buffers.hpp"
#include "native/codec_work.hpp"
#include "native/numbers.hpp"

namespace calpe::python {

namespace {

// The memory of a stream in a bytearray. A view that a callable keeps is still valid afterwards.
class StreamBuffer {
 public:
  StreamBuffer(const Codec& codec, py::handle block_bytes, py::handle depth) {
    options_.block_bytes = number_of<std::size_t>(block_bytes, "block_bytes");
    options_.depth = number_of<unsigned>(depth, "depth");
    const std::size_t bytes = stream_memory_bytes(codec, options_);
    if (bytes == 0) return;  // the stream returns the error
    const py::object memory = new_shard(bytes);
    view_ = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(memory.ptr()));
    if (!view_) throw py::error_already_set();
    options_.memory = {reinterpret_cast<std::byte*>(PyByteArray_AS_STRING(memory.ptr())), bytes};
  }
  const StreamOptions& options() const { return options_; }

  py::object writable(ConstShard part) const {
    const auto begin = part.empty() ? 0 : part.data() - options_.memory.data();
    return view_[py::slice(begin, begin + static_cast<py::ssize_t>(part.size()), 1)];
  }
  py::object readable(ConstShard part) const { return writable(part).attr("toreadonly")(); }

 private:
  StreamOptions options_;
  py::object view_;
};

}  // namespace

void check_stream(const Codec& codec, py::handle block_bytes) {
  const StreamOptions options{.block_bytes = number_of<std::size_t>(block_bytes, "block_bytes"),
                              .depth = 1};
  // The memory is not touched.
  value_of(StreamEncoder::create(codec, options, [](const StreamStripe&) { return Done{}; }));
}

std::uint64_t encode_stream(const Codec& codec, py::handle block_bytes, py::handle depth,
                            const py::function& read, const py::function& write) {
  const StreamBuffer buffer(codec, block_bytes, depth);
  const ReadBytes reading = [&](Shard to) -> Result<std::size_t> {
    const py::gil_scoped_acquire held;
    return number_of<std::size_t>(read(buffer.writable(to)), "the result of read");
  };
  const WriteStripe writing = [&](const StreamStripe& stripe) -> Status {
    const py::gil_scoped_acquire held;
    py::tuple blocks(stripe.blocks.size());
    for (std::size_t i = 0; i < stripe.blocks.size(); ++i)
      blocks[i] = buffer.readable(stripe.blocks[i]);
    write(stripe.number, stripe.data_bytes, stripe.shard_bytes, blocks);
    return Done{};
  };
  return value_of(without_lock(
      [&] { return calpe::encode_stream(codec, buffer.options(), reading, writing); }));
}

void decode_stream(const Codec& codec, py::handle block_bytes, py::handle depth,
                   py::handle object_bytes, const py::function& read, const py::function& write) {
  const StreamBuffer buffer(codec, block_bytes, depth);
  const auto all = number_of<std::uint64_t>(object_bytes, "object_bytes");
  const ReadBlock reading = [&](const StreamBlock& block, Shard to) -> Result<bool> {
    const py::gil_scoped_acquire held;
    return read(block.stripe, block.shard, block.offset, buffer.writable(to)).cast<bool>();
  };
  const WriteBytes writing = [&](ConstShard bytes) -> Status {
    const py::gil_scoped_acquire held;
    write(buffer.readable(bytes));
    return Done{};
  };
  value_of(without_lock(
      [&] { return calpe::decode_stream(codec, buffer.options(), all, reading, writing); }));
}

}  // namespace calpe::python
