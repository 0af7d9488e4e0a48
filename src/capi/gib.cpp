// SPDX-License-Identifier: Apache-2.0
// gib.h over codec.hpp: converts one memory block with a constant stride to spans.
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>

#include <calpe/gib.h>

#include "base/env.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "capi/capi_support.hpp"

struct gib_coding {
  calpe::Codec codec;
};

using namespace calpe;
using namespace calpe::capi;

namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::align_val_t line_alignment{line_bytes};

calpe_error& last_error() noexcept {
  thread_local calpe_error error = {};
  return error;
}

// Runs `work`, which returns a Status, and stores the error.
template <class Work>
int answered(const Work& work) noexcept {
  calpe_error error = {};
  const calpe_status status = walled(&error, [&] { return finish(work(), &error); });
  if (status != CALPE_OK) last_error() = error;
  return status;
}

Status check_context(gib_context gc) {
  if (gc == nullptr) return invalid("gc is NULL; expected a context of gib_init");
  return Done{};
}

std::size_t data_count(gib_context gc) noexcept {
  return gc->codec.spec().data_shards;
}
std::size_t buffer_count(gib_context gc) noexcept {
  return data_count(gc) + gc->codec.spec().parity_shards;
}

// The buffers of a call, by position.
class Buffers {
 public:
  static Result<Buffers> of(void* buffers, int buf_size) {
    if (buf_size < 0) return invalid("buf_size is ", buf_size, "; expected at least 0");
    if (buffers == nullptr && buf_size > 0) return invalid("buffers is NULL");
    return Buffers(static_cast<std::byte*>(buffers), static_cast<std::size_t>(buf_size));
  }
  // 256 positions times an int of bytes cannot overflow a 64-bit size_t.
  Shard at(std::size_t position) const noexcept {
    return bytes_ == 0 ? Shard() : Shard(start_ + position * bytes_, bytes_);
  }

 private:
  Buffers(std::byte* start, std::size_t bytes) noexcept : start_(start), bytes_(bytes) {}
  std::byte* start_;
  std::size_t bytes_;
};
static_assert(sizeof(std::size_t) > sizeof(int));

// Where each buffer lies: positions[id], if the caller names it.
using Positions = std::array<std::optional<std::size_t>, byte_shard_count_max>;

Result<Positions> read_ids(const int* buf_ids, std::size_t named, std::size_t count) {
  if (buf_ids == nullptr) return invalid("buf_ids is NULL");
  Positions positions;
  for (std::size_t i = 0; i < named; ++i) {
    const int id = buf_ids[i];
    if (id < 0 || static_cast<std::size_t>(id) >= count) {
      return invalid("buf_ids[", i, "] is ", id, "; expected 0..", count - 1);
    }
    std::optional<std::size_t>& position = positions[static_cast<std::size_t>(id)];
    if (position) {
      return invalid("buf_ids[", i, "] is ", id, ", as is buf_ids[", *position,
                     "]; expected every buffer at most once");
    }
    position = i;
  }
  return positions;
}

Status recover(const Codec& codec, const Buffers& buffers, const Positions& positions,
               std::size_t named) {
  const std::size_t data = codec.spec().data_shards;
  std::array<ShardIndex, byte_shard_count_max> ids{};
  for (std::size_t id = 0; id < positions.size(); ++id) {
    if (positions[id]) ids[*positions[id]] = static_cast<ShardIndex>(id);
  }
  const std::span<const ShardIndex> all = std::span(ids).first(named);
  CALPE_TRY(const Plan plan, codec.plan_decode(all.first(data), all.subspan(data)));
  SpanArray<const std::byte> inputs(plan.reads().size());
  SpanArray<std::byte> outputs(plan.writes().size());
  const auto take = [&](std::span<const ShardIndex> shards, auto& spans) {
    for (std::size_t i = 0; i < shards.size(); ++i)
      spans[i] = buffers.at(*positions[shards[i]]);
    return std::span(spans.data(), shards.size());
  };
  return codec.decode(plan, take(plan.reads(), inputs), take(plan.writes(), outputs));
}

}  // namespace

int gib_init(int k, int m, gib_context* gc) {
  return answered([&]() -> Status {
    if (gc == nullptr) return invalid("gc is NULL");
    *gc = nullptr;
    constexpr int most = static_cast<int>(byte_shard_count_max);
    if (k < 1 || k >= most) return invalid("k is ", k, "; expected 1..", most - 1);
    if (m < 1 || m > most - k) {
      return invalid("m is ", m, " with k = ", k, "; expected 1..", most - k);
    }
    CodecOptions options;
    if (const auto backend = environment("CALPE_BACKEND")) options.backend = *backend;
    CALPE_TRY(Codec codec, Codec::create({.family = CodeFamily::vandermonde,
                                          .data_shards = static_cast<std::uint32_t>(k),
                                          .parity_shards = static_cast<std::uint32_t>(m)},
                                         options));
    *gc = new gib_coding{std::move(codec)};
    return Done{};
  });
}

int gib_destroy(gib_context gc) {
  return answered([&]() -> Status {
    CALPE_CHECK(check_context(gc));
    delete gc;
    return Done{};
  });
}

int gib_alloc(void** buffers, int buf_size, int* ld, gib_context gc) {
  return answered([&]() -> Status {
    CALPE_CHECK(check_context(gc));
    if (buffers == nullptr || ld == nullptr) return invalid("buffers or ld is NULL");
    *buffers = nullptr;
    if (buf_size < 0) return invalid("buf_size is ", buf_size, "; expected at least 0");
    const std::size_t lines = (static_cast<std::size_t>(buf_size) + line_bytes - 1) / line_bytes;
    const std::size_t distance = (lines | 1U) * line_bytes;
    constexpr std::size_t most = std::numeric_limits<int>::max();
    if (distance > most) {
      return invalid("buf_size is ", buf_size, "; expected at most ", most - line_bytes + 1,
                     ", so that ld is an int");
    }
    const std::size_t bytes = distance * buffer_count(gc);
    void* const memory = ::operator new(bytes, line_alignment, std::nothrow);
    if (memory == nullptr) {
      return make_error(ErrorCode::out_of_memory, "no memory for ", buffer_count(gc),
                        " buffers of ", distance, " bytes");
    }
    std::memset(memory, 0, bytes);
    *buffers = memory;
    *ld = static_cast<int>(distance);
    return Done{};
  });
}

int gib_free(void* buffers, gib_context gc) {
  return answered([&]() -> Status {
    CALPE_CHECK(check_context(gc));
    ::operator delete(buffers, line_alignment);
    return Done{};
  });
}

int gib_generate(void* buffers, int buf_size, gib_context gc) {
  return answered([&]() -> Status {
    CALPE_CHECK(check_context(gc));
    CALPE_TRY(const Buffers all, Buffers::of(buffers, buf_size));
    const std::size_t data = data_count(gc);
    SpanArray<const std::byte> inputs(data);
    SpanArray<std::byte> outputs(buffer_count(gc) - data);
    for (std::size_t i = 0; i < data; ++i)
      inputs[i] = all.at(i);
    for (std::size_t i = data; i < buffer_count(gc); ++i)
      outputs[i - data] = all.at(i);
    return gc->codec.encode(inputs, outputs);
  });
}

int gib_recover(void* buffers, int buf_size, int* buf_ids, int recover_last, gib_context gc) {
  return answered([&]() -> Status {
    CALPE_CHECK(check_context(gc));
    CALPE_TRY(const Buffers all, Buffers::of(buffers, buf_size));
    const std::size_t parity = buffer_count(gc) - data_count(gc);
    if (recover_last < 0 || static_cast<std::size_t>(recover_last) > parity) {
      return invalid("recover_last is ", recover_last, "; expected 0..", parity);
    }
    const std::size_t named = data_count(gc) + static_cast<std::size_t>(recover_last);
    CALPE_TRY(const Positions positions, read_ids(buf_ids, named, buffer_count(gc)));
    if (recover_last == 0) return Done{};
    return recover(gc->codec, all, positions, named);
  });
}

const char* gib_error_text(void) {
  return last_error().message;
}
