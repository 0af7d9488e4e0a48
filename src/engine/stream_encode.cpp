// SPDX-License-Identifier: Apache-2.0
// Encodes streams: with callbacks for input and output, or as bytes arrive.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <calpe/streams.hpp>

#include "base/allocation_guard.hpp"
#include "base/ordered_jobs.hpp"
#include "base/short_array.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "engine/stream_failure.hpp"
#include "engine/stream_shape.hpp"

namespace calpe {

namespace {

// Codes one stripe at a time into its memory.
class StripeEncoder {
 public:
  StripeEncoder(const engine::StreamShape& shape, std::byte* memory)
      : shape_(&shape), memory_(memory), blocks_(shape.shards()) {}

  Shard space() const noexcept { return {memory_, shape_->whole_data_bytes()}; }

  // `data`: the bytes of the object in the stripe, in space() or elsewhere.
  Status encode(std::uint64_t number, ConstShard data) {
    const Codec& codec = shape_->codec();
    const engine::StripeLengths lengths = shape_->lengths(data.size());
    ShortArray<Shard> parity(shape_->parity_shards());
    for (std::size_t i = 0; i < parity.size(); ++i) {
      parity[i] = shape_->parity_block(memory_, lengths, i);
      blocks_[shape_->data_shards() + i] = parity[i];
    }
    CALPE_CHECK(
        codec.split(data, lengths.shard_bytes, std::span(blocks_).first(shape_->data_shards())));
    stripe_ = {.number = number,
               .data_bytes = lengths.data_bytes,
               .shard_bytes = lengths.shard_bytes,
               .blocks = blocks_};
    return codec.encode_object(data, lengths.shard_bytes, parity);
  }
  const StreamStripe& stripe() const noexcept { return stripe_; }

 private:
  const engine::StreamShape* shape_;
  std::byte* memory_;
  std::vector<ConstShard> blocks_;
  StreamStripe stripe_;
};

class EncodeJobs final : public OrderedJobs {
 public:
  EncodeJobs(const engine::StreamShape& shape, const engine::StreamMemory& memory,
             std::size_t depth, const ReadBytes& read, const WriteStripe& write)
      : read_(read), write_(write) {
    slots_.reserve(depth);
    for (std::size_t i = 0; i < depth; ++i)
      slots_.push_back({.encoder = StripeEncoder(shape, memory.stripe(i))});
  }
  std::uint64_t object_bytes() const noexcept { return object_bytes_; }

 private:
  struct Slot {
    StripeEncoder encoder;
    std::uint64_t number = 0;
    std::size_t data_bytes = 0;
  };

  Result<Taken> take(std::size_t worker, std::uint64_t number) override {
    Slot& slot = slots_[worker];
    const Shard space = slot.encoder.space();
    std::size_t filled = 0;
    while (filled < space.size()) {
      if (is_stopped()) return Taken::none;
      const Shard rest = space.subspan(filled);
      CALPE_TRY(const std::size_t count, read_(rest));
      if (count > rest.size()) {
        return invalid("read returned ", count, " bytes; expected at most ", rest.size());
      }
      if (count == 0) break;
      filled += count;
    }
    object_bytes_ += filled;
    slot.number = number;
    slot.data_bytes = filled;
    if (filled == 0) return Taken::none;
    return filled < space.size() ? Taken::last : Taken::one;
  }
  Status work(std::size_t worker) override {
    Slot& slot = slots_[worker];
    return slot.encoder.encode(slot.number, slot.encoder.space().first(slot.data_bytes));
  }
  Status deliver(std::size_t worker) override { return write_(slots_[worker].encoder.stripe()); }

  const ReadBytes& read_;
  const WriteStripe& write_;
  std::vector<Slot> slots_;
  std::uint64_t object_bytes_ = 0;
};

}  // namespace

Result<std::uint64_t> encode_stream(const Codec& codec, const StreamOptions& options,
                                    const ReadBytes& read, const WriteStripe& write) {
  return engine::without_bad_alloc([&]() -> Result<std::uint64_t> {
    if (!read) return invalid("read is empty; expected a function");
    if (!write) return invalid("write is empty; expected a function");
    CALPE_TRY(const engine::StreamShape shape, engine::StreamShape::create(codec, options));
    CALPE_TRY(const engine::StreamMemory memory,
              engine::StreamMemory::create(shape, options.depth, options.memory));
    EncodeJobs jobs(shape, memory, options.depth, read, write);
    CALPE_CHECK(jobs.run(options.depth));
    return jobs.object_bytes();
  });
}

struct StreamEncoder::Impl {
  Impl(const Codec& of, WriteStripe write) : codec(of), sink(std::move(write)) {}

  Status deliver(ConstShard data) {
    CALPE_CHECK(encoder->encode(stripes, data));
    ++stripes;
    object_bytes += data.size();
    return sink(encoder->stripe());
  }
  Status write(ConstShard bytes) {
    while (!bytes.empty()) {
      const Shard space = encoder->space();
      if (filled == 0 && bytes.size() >= space.size()) {
        CALPE_CHECK(deliver(bytes.first(space.size())));
        bytes = bytes.subspan(space.size());
        continue;
      }
      const std::size_t count = std::min(bytes.size(), space.size() - filled);
      std::ranges::copy(bytes.first(count), space.subspan(filled).begin());
      bytes = bytes.subspan(count);
      filled += count;
      if (filled == space.size()) CALPE_CHECK(flush());
    }
    return Done{};
  }
  Status flush() {
    if (filled == 0) return Done{};
    return deliver(encoder->space().first(std::exchange(filled, 0)));
  }
  Codec codec;  // shape refers to it
  WriteStripe sink;
  std::optional<engine::StreamShape> shape;
  std::optional<engine::StreamMemory> memory;
  std::optional<StripeEncoder> encoder;
  std::size_t filled = 0;
  std::uint64_t stripes = 0;
  std::uint64_t object_bytes = 0;
  bool is_finished = false;
  engine::StreamFailure failure;
};

StreamEncoder::StreamEncoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
StreamEncoder::StreamEncoder(StreamEncoder&&) noexcept = default;
StreamEncoder& StreamEncoder::operator=(StreamEncoder&&) noexcept = default;
StreamEncoder::~StreamEncoder() = default;

Result<StreamEncoder> StreamEncoder::create(const Codec& codec, const StreamOptions& options,
                                            WriteStripe write) {
  return guarded([&]() -> Result<StreamEncoder> {
    if (!write) return invalid("write is empty; expected a function");
    auto impl = std::make_unique<Impl>(codec, std::move(write));
    CALPE_TRY(impl->shape, engine::StreamShape::create(impl->codec, options));
    CALPE_TRY(impl->memory, engine::StreamMemory::create(*impl->shape, 1, options.memory));
    impl->encoder.emplace(*impl->shape, impl->memory->stripe(0));
    return StreamEncoder(std::move(impl));
  });
}

Status StreamEncoder::write(ConstShard bytes) {
  return engine::without_bad_alloc([&]() -> Status {
    if (!impl_) return engine::moved_from_stream();
    if (impl_->is_finished) return invalid("the stream is finished; create another one");
    return impl_->failure.keep([&] { return impl_->write(bytes); });
  });
}

Result<std::uint64_t> StreamEncoder::finish() {
  return engine::without_bad_alloc([&]() -> Result<std::uint64_t> {
    if (!impl_) return engine::moved_from_stream();
    CALPE_CHECK(impl_->failure.keep([&] { return impl_->flush(); }));
    impl_->is_finished = true;
    return impl_->object_bytes;
  });
}

}  // namespace calpe
