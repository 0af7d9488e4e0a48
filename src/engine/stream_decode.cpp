// SPDX-License-Identifier: Apache-2.0
// Decodes streams: with callbacks for input and output, or as stripes arrive.
#include <algorithm>
#include <array>
#include <bitset>
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

// Which blocks of a stripe are lost, as far as known.
class LostBlocks {
 public:
  explicit LostBlocks(std::size_t shards) : lost_(shards) { std::ranges::fill(lost_, false); }
  void add(std::size_t shard) { lost_[shard] = true; }
  bool has(std::size_t shard) const { return lost_[shard]; }

  // Plans to write the lost data blocks. Without lost data there is no plan.
  Result<std::optional<Plan>> plan(const engine::StreamShape& shape, std::uint64_t stripe) const {
    // Available ones first, lost data last.
    ShortArray<ShardIndex> indices(shape.shards());
    std::size_t available = 0;
    std::size_t wanted_begin = shape.shards();
    for (std::size_t i = shape.shards(); i-- > 0;) {
      if (lost_[i] && i < shape.data_shards()) indices[--wanted_begin] = static_cast<ShardIndex>(i);
    }
    if (wanted_begin == shape.shards()) return std::optional<Plan>();
    for (std::size_t i = 0; i < shape.shards(); ++i) {
      if (!lost_[i]) indices[available++] = static_cast<ShardIndex>(i);
    }
    const std::span<const ShardIndex> all = indices;
    auto made = shape.codec().plan_decode(all.first(available), all.subspan(wanted_begin));
    if (made) return std::optional<Plan>(*std::move(made));
    return in_stripe(shape, stripe, made.error());
  }

 private:
  Error in_stripe(const engine::StreamShape& shape, std::uint64_t stripe,
                  const Error& error) const {
    if (error.code != ErrorCode::unrecoverable) return error;
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < shape.shards(); ++i)
      if (lost_[i]) all.push_back(i);
    return make_error(error.code, "stripe ", stripe, " has lost the blocks of shards ",
                      join<std::size_t>(all), ": ", error.message);
  }

  ShortArray<bool> lost_;
};

// Reads and rebuilds one stripe at a time in its memory.
class StripeReader {
 public:
  StripeReader(const engine::StreamShape& shape, std::byte* memory)
      : shape_(&shape), memory_(memory), parity_(shape.parity_shards()) {}

  // Reads all data blocks. For lost ones, also reads the parity blocks of the cheapest plan; if
  // such a block is lost, too, of the next one. Returns false if `is_stopped` does.
  template <class IsStopped>
  Result<bool> read(std::uint64_t stripe, const engine::StripeLengths& lengths,
                    const ReadBlock& read, const IsStopped& is_stopped) {
    lengths_ = lengths;
    plan_.reset();
    std::ranges::fill(parity_, ConstShard());
    LostBlocks lost(shape_->shards());
    const auto ask = [&](std::size_t shard, Shard to) -> Result<bool> {
      CALPE_TRY(const bool is_read, read({.stripe = stripe,
                                          .shard = static_cast<ShardIndex>(shard),
                                          .offset = shape_->block_offset(stripe, shard)},
                                         to));
      if (!is_read) lost.add(shard);
      return is_read;
    };
    for (std::size_t i = 0; i < shape_->data_shards(); ++i) {
      const std::size_t bytes = shape_->block_bytes(lengths, i);
      if (bytes == 0) break;  // and so are those after it
      if (is_stopped()) return false;
      CALPE_CHECK(ask(i, {memory_ + i * lengths.shard_bytes, bytes}));
    }
    for (bool is_complete = false; !is_complete;) {
      CALPE_TRY(plan_, lost.plan(*shape_, stripe));
      is_complete = true;
      if (!plan_) break;
      for (const ShardIndex shard : plan_->reads()) {
        if (shard < shape_->data_shards()) continue;
        const std::size_t i = shard - shape_->data_shards();
        if (!parity_[i].empty()) continue;
        if (is_stopped()) return false;
        const Shard to = shape_->parity_block(memory_, lengths, i);
        CALPE_TRY(const bool is_read, ask(shard, to));
        if (is_read) {
          parity_[i] = to;
        } else {
          is_complete = false;
        }
      }
    }
    return true;
  }
  Status rebuild() {
    if (!plan_) return Done{};
    return shape_->codec().decode_object(*plan_, data(), lengths_.shard_bytes, parity_);
  }
  Shard data() const noexcept { return {memory_, lengths_.data_bytes}; }

 private:
  const engine::StreamShape* shape_;
  std::byte* memory_;
  std::vector<ConstShard> parity_;  // empty: not read
  engine::StripeLengths lengths_;
  std::optional<Plan> plan_;
};

class DecodeJobs final : public OrderedJobs {
 public:
  DecodeJobs(const engine::StreamShape& shape, const engine::StreamMemory& memory,
             std::size_t depth, std::uint64_t object_bytes, const ReadBlock& read,
             const WriteBytes& write)
      : shape_(shape), object_bytes_(object_bytes), read_(read), write_(write) {
    readers_.reserve(depth);
    for (std::size_t i = 0; i < depth; ++i)
      readers_.emplace_back(shape, memory.stripe(i));
  }

 private:
  Result<Taken> take(std::size_t worker, std::uint64_t number) override {
    const std::uint64_t count = shape_.stripe_count(object_bytes_);
    if (number >= count) return Taken::none;
    CALPE_TRY(const bool is_read,
              readers_[worker].read(number, shape_.lengths(object_bytes_, number), read_,
                                    [this] { return is_stopped(); }));
    if (!is_read) return Taken::none;
    return number + 1 == count ? Taken::last : Taken::one;
  }
  Status work(std::size_t worker) override { return readers_[worker].rebuild(); }
  Status deliver(std::size_t worker) override { return write_(readers_[worker].data()); }

  const engine::StreamShape& shape_;
  const std::uint64_t object_bytes_;
  const ReadBlock& read_;
  const WriteBytes& write_;
  std::vector<StripeReader> readers_;
};

}  // namespace

Status decode_stream(const Codec& codec, const StreamOptions& options, std::uint64_t object_bytes,
                     const ReadBlock& read, const WriteBytes& write) {
  return engine::without_bad_alloc([&]() -> Status {
    if (!read) return invalid("read is empty; expected a function");
    if (!write) return invalid("write is empty; expected a function");
    CALPE_TRY(const engine::StreamShape shape, engine::StreamShape::create(codec, options));
    CALPE_TRY(const engine::StreamMemory memory,
              engine::StreamMemory::create(shape, options.depth, options.memory));
    DecodeJobs jobs(shape, memory, options.depth, object_bytes, read, write);
    return jobs.run(options.depth);
  });
}

struct StreamDecoder::Impl {
  Impl(const Codec& of, std::uint64_t bytes, WriteBytes write)
      : codec(of), object_bytes(bytes), sink(std::move(write)) {}

  std::uint64_t stripe_count() const { return shape->stripe_count(object_bytes); }
  std::byte* block(std::size_t shard) const {
    return memory->stripe(0) + shard * lengths.shard_bytes;
  }

  // Returns a plan if data is lost.
  Result<std::optional<Plan>> check(std::span<const ConstShard> blocks) const {
    if (stripe == stripe_count()) {
      return invalid("all ", stripe, " stripes of the object were written");
    }
    if (blocks.size() != shape->shards()) {
      return invalid("blocks has ", blocks.size(), " entries; expected ", shape->shards());
    }
    LostBlocks lost(shape->shards());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::size_t bytes = shape->block_bytes(lengths, i);
      if (blocks[i].data() == nullptr && bytes > 0) {
        lost.add(i);
      } else if (blocks[i].size() != bytes) {
        return invalid("blocks[", i, "] has ", blocks[i].size(), " bytes; expected ", bytes,
                       " in stripe ", stripe);
      }
    }
    return lost.plan(*shape, stripe);
  }
  // Writes the lost data blocks into the memory.
  Status rebuild(const Plan& plan, std::span<const ConstShard> blocks) const {
    const std::size_t data_shards = shape->data_shards();
    if (lengths.data_bytes == data_shards * lengths.shard_bytes) {
      ShortArray<ConstShard> inputs(plan.reads().size());
      ShortArray<Shard> outputs(plan.writes().size());
      for (std::size_t i = 0; i < plan.reads().size(); ++i)
        inputs[i] = blocks[plan.reads()[i]];
      for (std::size_t i = 0; i < plan.writes().size(); ++i)
        outputs[i] = {block(plan.writes()[i]), lengths.shard_bytes};
      return codec.run(plan, inputs, outputs);
    }
    // run() takes no short shards, decode_object() takes them in one piece.
    for (std::size_t i = 0; i < data_shards; ++i) {
      if (blocks[i].data() != nullptr) std::ranges::copy(blocks[i], block(i));
    }
    return codec.decode_object(plan, {memory->stripe(0), lengths.data_bytes}, lengths.shard_bytes,
                               blocks.subspan(data_shards));
  }
  Status deliver(std::span<const ConstShard> blocks) {
    for (std::size_t i = 0; i < shape->data_shards(); ++i) {
      const std::size_t bytes = shape->block_bytes(lengths, i);
      if (bytes == 0) break;
      CALPE_CHECK(sink(blocks[i].data() == nullptr ? ConstShard(block(i), bytes) : blocks[i]));
    }
    lengths = shape->lengths(object_bytes, ++stripe);
    return Done{};
  }

  Codec codec;  // shape refers to it
  std::uint64_t object_bytes;
  WriteBytes sink;
  std::optional<engine::StreamShape> shape;
  std::optional<engine::StreamMemory> memory;
  std::uint64_t stripe = 0;  // the next one
  engine::StripeLengths lengths;
  engine::StreamFailure failure;
};

StreamDecoder::StreamDecoder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;
StreamDecoder::~StreamDecoder() = default;

Result<StreamDecoder> StreamDecoder::create(const Codec& codec, const StreamOptions& options,
                                            std::uint64_t object_bytes, WriteBytes write) {
  return guarded([&]() -> Result<StreamDecoder> {
    if (!write) return invalid("write is empty; expected a function");
    auto impl = std::make_unique<Impl>(codec, object_bytes, std::move(write));
    CALPE_TRY(impl->shape, engine::StreamShape::create(impl->codec, options));
    CALPE_TRY(impl->memory, engine::StreamMemory::create(*impl->shape, 1, options.memory));
    impl->lengths = impl->shape->lengths(object_bytes, 0);
    return StreamDecoder(std::move(impl));
  });
}

std::size_t StreamDecoder::block_bytes(ShardIndex shard) const noexcept {
  return impl_ ? impl_->shape->block_bytes(impl_->lengths, shard) : 0;
}

Status StreamDecoder::write(std::span<const ConstShard> blocks) {
  return engine::without_bad_alloc([&]() -> Status {
    if (!impl_) return engine::moved_from_stream();
    CALPE_CHECK(impl_->failure.check());
    CALPE_TRY(const std::optional<Plan> plan, impl_->check(blocks));
    if (plan) CALPE_CHECK(impl_->rebuild(*plan, blocks));
    return impl_->failure.keep([&] { return impl_->deliver(blocks); });
  });
}

Status StreamDecoder::finish() {
  return engine::without_bad_alloc([&]() -> Status {
    if (!impl_) return engine::moved_from_stream();
    CALPE_CHECK(impl_->failure.check());
    if (impl_->stripe == impl_->stripe_count()) return Done{};
    return invalid(impl_->stripe, " of ", impl_->stripe_count(),
                   " stripes of the object were written; expected all");
  });
}

}  // namespace calpe
