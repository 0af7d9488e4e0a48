// SPDX-License-Identifier: Apache-2.0
// Helpers between C and C++: handles, errors, extensible structures, pointers to spans.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>

#include <calpe/calpe.h>
#include <calpe/codec.hpp>

#include "base/short_array.hpp"

struct calpe_codec {
  calpe::Codec codec;
};
struct calpe_plan {
  calpe::Plan plan;
};

namespace calpe::capi {

calpe_status fail(const Error& error, calpe_error* out) noexcept;
calpe_status fail(ErrorCode code, const char* message, calpe_error* out) noexcept;
calpe_status succeed(calpe_error* out) noexcept;

inline calpe_status null_argument(const char* message, calpe_error* out) noexcept {
  return fail(ErrorCode::invalid_argument, message, out);
}

// Fails with the name of the first argument that is NULL.
struct NamedPointer {
  const char* name;
  const void* pointer;
};
calpe_status null_among(std::initializer_list<NamedPointer> arguments, calpe_error* out) noexcept;

template <class T>
calpe_status finish(const Result<T>& result, calpe_error* out) noexcept {
  return result ? succeed(out) : fail(result.error(), out);
}

// Stores a new handle of the result in *out.
template <class Made, class Handle>
calpe_status give(Result<Made> made, Handle** out, calpe_error* error) {
  if (!made) return fail(made.error(), error);
  *out = new Handle{*std::move(made)};
  return succeed(error);
}

// Runs `work`, which returns a calpe_status, and turns exceptions into a status.
template <class Work>
calpe_status walled(calpe_error* out, const Work& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "out of memory", out);
  } catch (...) {
    return fail(ErrorCode::device_failed, "unexpected exception", out);
  }
}

// Fails with invalid_argument when struct_size is not set, or when the structure is longer than the
// known one and the extra bytes are not zero: a caller with a newer header uses a field that would
// be ignored. `name` is the operand's name.
Status check_struct(const void* given, std::size_t struct_size, std::size_t known,
                    const char* name);

// Returns a copy in which fields beyond the caller's struct_size are zero.
template <class Struct>
Result<Struct> read_struct(const Struct* given, const char* name) {
  Struct full{};
  if (const Status checked = check_struct(given, given->struct_size, sizeof full, name); !checked) {
    return checked.error();
  }
  std::memcpy(&full, given, std::min(given->struct_size, sizeof full));
  return full;
}

// Writes the fields that the caller's structure has.
template <class Struct>
void write_struct(Struct full, Struct* to) noexcept {
  full.struct_size = to->struct_size;
  std::memcpy(to, &full, std::min(to->struct_size, sizeof full));
}

// Fails with invalid_argument when a number does not fit its field.
Result<CodeSpec> to_spec(const calpe_spec* given);
calpe_spec from_spec(const CodeSpec& from) noexcept;
Result<CodecOptions> to_options(const calpe_options* given);
void fill_proof(const CodeProof& from, calpe_proof* to) noexcept;

// Truncates the text if needed. `to` must not be empty.
void copy_text(std::string_view from, std::span<char> to) noexcept;

// Copies as many as fit and returns the total number.
template <class T>
std::size_t copy_list(std::span<const T> from, T* to, std::size_t capacity) noexcept {
  if (to != nullptr) std::copy_n(from.begin(), std::min(from.size(), capacity), to);
  return from.size();
}

// Spans over the caller's pointers.
template <class Bytes>
using SpanArray = ShortArray<std::span<Bytes>>;

// The same without initial values: zeroing them would take 25 ns, more than coding a short shard.
template <class Bytes>
class SpanRoom {
 public:
  explicit SpanRoom(std::size_t count) {
    if (count > few_count) many_ = std::make_unique<std::span<Bytes>[]>(count);
  }
  std::span<Bytes>& operator[](std::size_t i) noexcept { return data()[i]; }
  std::span<const std::span<Bytes>> first(std::size_t count) const noexcept {
    return part(0, count);
  }
  std::span<const std::span<Bytes>> part(std::size_t begin, std::size_t count) const noexcept {
    return {data() + begin, count};
  }

 private:
  static constexpr std::size_t few_count = byte_shard_count_max;
  std::span<Bytes>* data() noexcept { return many_ ? many_.get() : few_.data(); }
  const std::span<Bytes>* data() const noexcept { return many_ ? many_.get() : few_.data(); }
  std::unique_ptr<std::span<Bytes>[]> many_;
  union {
    std::array<std::span<Bytes>, few_count> few_;
  };
};

}  // namespace calpe::capi
