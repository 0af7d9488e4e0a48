// SPDX-License-Identifier: Apache-2.0
// Shards in the caller's own types. Codec accepts them like spans of spans; no byte is copied.
//
//   std::vector<std::vector<unsigned char>> data, parity;
//   codec.encode(data, parity);
//   codec.encode(strided(memory, 10, 4096), strided(memory + 10 * 4096, 4, 4096));
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <type_traits>

namespace calpe {

using Shard = std::span<std::byte>;
using ConstShard = std::span<const std::byte>;

template <class T>
concept ByteType = std::same_as<T, std::byte> || std::same_as<T, unsigned char> ||
    std::same_as<T, char> || std::same_as<T, signed char>;

// One shard: contiguous bytes of type std::byte or a char, such as std::vector<unsigned char>,
// std::array, std::string or std::span. A temporary must be a view.
template <class T>
concept ShardBytes = std::ranges::contiguous_range<T> && std::ranges::sized_range<T> &&
    std::ranges::borrowed_range<T> && ByteType<std::ranges::range_value_t<T>>;

template <class T>
concept WritableShardBytes =
    ShardBytes<T> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<T>>>;

// A Shard, or a ConstShard if the bytes are const.
template <ShardBytes Memory>
auto as_shard(Memory&& memory) noexcept {
  using Byte = std::conditional_t<WritableShardBytes<Memory>, std::byte, const std::byte>;
  return std::span<Byte>(reinterpret_cast<Byte*>(std::ranges::data(memory)),
                         std::ranges::size(memory));
}

template <class T>
concept PlainInputList = std::convertible_to<T, std::span<const ConstShard>>;
template <class T>
concept PlainOutputList = std::convertible_to<T, std::span<const Shard>>;

// operator[] of a map inserts.
template <class T>
concept IsMap = requires {
  typename std::remove_cvref_t<T>::mapped_type;
};

// Shards that a function reads or writes, other than spans of spans: any list with a size and
// operator[] whose elements as_shard() accepts.
template <class T>
concept OtherInputList =
    !PlainInputList<T> && !IsMap<T> && requires(std::remove_reference_t<T> & list) {
  { std::ranges::size(list) } -> std::convertible_to<std::size_t>;
  { list[std::size_t{}] } -> ShardBytes;
};
template <class T>
concept OtherOutputList =
    !PlainOutputList<T> && !IsMap<T> && requires(std::remove_reference_t<T> & list) {
  { std::ranges::size(list) } -> std::convertible_to<std::size_t>;
  { list[std::size_t{}] } -> WritableShardBytes;
};

template <class T>
concept InputList = PlainInputList<T> || OtherInputList<T>;
template <class T>
concept OutputList = PlainOutputList<T> || OtherOutputList<T>;

// The second of two lists, at least one of which is not a span of spans.
template <class T, class First>
concept IsOtherInput = OtherInputList<T> || OtherInputList<First>;
template <class T, class First>
concept IsOtherOutput = OtherOutputList<T> || OtherInputList<First>;
template <class T, class First>
concept InputListBeside = InputList<T> && IsOtherInput<T, First>;
template <class T, class First>
concept OutputListBeside = OutputList<T> && IsOtherOutput<T, First>;

// Shards at equal distances in one buffer: shard i begins at base + i * stride.
template <class Byte>  // std::byte or const std::byte
struct StridedShards {
  Byte* base = nullptr;
  std::uint32_t count = 0;
  std::size_t shard_bytes = 0;
  std::size_t stride = 0;

  std::uint32_t size() const noexcept { return count; }
  std::span<Byte> operator[](std::size_t index) const noexcept {
    return {base + index * stride, shard_bytes};
  }
};

// Shards one behind the other, or `stride` bytes apart. The buffer has all of them.
inline StridedShards<std::byte> strided(void* base, std::uint32_t count,
                                        std::size_t shard_bytes) noexcept {
  return {static_cast<std::byte*>(base), count, shard_bytes, shard_bytes};
}
inline StridedShards<std::byte> strided(void* base, std::uint32_t count, std::size_t shard_bytes,
                                        std::size_t stride) noexcept {
  return {static_cast<std::byte*>(base), count, shard_bytes, stride};
}
inline StridedShards<const std::byte> strided(const void* base, std::uint32_t count,
                                              std::size_t shard_bytes) noexcept {
  return {static_cast<const std::byte*>(base), count, shard_bytes, shard_bytes};
}
inline StridedShards<const std::byte> strided(const void* base, std::uint32_t count,
                                              std::size_t shard_bytes,
                                              std::size_t stride) noexcept {
  return {static_cast<const std::byte*>(base), count, shard_bytes, stride};
}

// The spans of a list, for functions that take no lists: ShardSpans<Shard>(parity).get(). Borrows
// the list. Allocates for more than 256 shards only; is false if that failed.
template <class View>  // ConstShard or Shard
class ShardSpans {
 public:
  template <InputList List>
  explicit ShardSpans(List&& list) noexcept {  // NOLINT(bugprone-forwarding-reference-overload)
    if constexpr (std::convertible_to<List, std::span<const View>>) {
      spans_ = list;
    } else {
      const std::size_t count = std::ranges::size(list);
      if (count > few_count) many_.reset(new (std::nothrow) View[count]);
      is_complete_ = count <= few_count || many_ != nullptr;
      if (!is_complete_) return;
      View* const to = many_ != nullptr ? many_.get() : reinterpret_cast<View*>(few_);
      for (std::size_t i = 0; i < count; ++i)
        new (to + i) View(as_shard(list[i]));
      spans_ = {to, count};
    }
  }
  ShardSpans(const ShardSpans&) = delete;
  ShardSpans& operator=(const ShardSpans&) = delete;

  explicit operator bool() const noexcept { return is_complete_; }
  std::span<const View> get() const noexcept { return spans_; }

 private:
  static constexpr std::size_t few_count = 256;
  bool is_complete_ = true;
  std::span<const View> spans_;
  std::unique_ptr<View[]> many_;
  alignas(View) std::byte few_[few_count * sizeof(View)];  // not initialised, which costs 50 ns
};

}  // namespace calpe
