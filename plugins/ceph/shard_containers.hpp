// SPDX-License-Identifier: Apache-2.0
// Ceph 20's set and map of shards, which daemons create and plugins read and fill. All their
// functions are inline in Ceph, so only names and layout are the contract. The names are part of
// the mangled names that vtable_test.py compares; the tests of the plugin check the layout, because
// they pass these containers to a plugin that Ceph ships.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

struct shard_id_t {
  std::int8_t id;
};

template <std::size_t BitCount, typename Key>
class bitset_set {
 public:
  bitset_set() : end_{this, Key{static_cast<std::int8_t>(BitCount)}} {}
  bitset_set(const bitset_set& other) : words_(other.words_), end_{this, other.end_.position} {}
  bitset_set& operator=(const bitset_set&) = delete;

  void insert(unsigned shard) { words_.at(shard / 64) |= std::uint64_t{1} << shard % 64; }
  // Shards 0 to 63.
  std::uint64_t first_word() const { return words_[0]; }

 private:
  struct Iterator {
    const bitset_set* set;
    Key position;
  };

  std::array<std::uint64_t, BitCount / 64> words_{};
  Iterator end_;
};

template <typename Key, typename Value, typename Int = std::int_fast8_t>
class mini_flat_map {
 public:
  explicit mini_flat_map(std::size_t capacity)
      : values_(capacity), end_(this, capacity), const_end_(this, capacity) {}
  mini_flat_map(const mini_flat_map&) = delete;
  mini_flat_map& operator=(const mini_flat_map&) = delete;

  std::size_t capacity() const { return values_.size(); }
  std::size_t size() const { return size_; }
  bool has(unsigned shard) const { return shard < values_.size() && values_[shard].has_value(); }
  // The shard must have a value. As put(), throws for one beyond the capacity.
  const Value& at(unsigned shard) const { return values_.at(shard).value(); }
  Value& at(unsigned shard) { return values_.at(shard).value(); }
  // Returns the value of a shard, which is a new one if it had none.
  Value& put(unsigned shard) {
    std::optional<Value>& value = values_.at(shard);
    if (!value.has_value()) {
      value.emplace();
      ++size_;
    }
    return *value;
  }

 private:
  template <typename Map, typename Entry>
  struct Iterator {
    Iterator(Map* owner, std::size_t end) : map(owner), key{static_cast<Int>(end)} {}
    Map* map;
    std::optional<Entry> entry;
    Key key;
  };

  std::vector<std::optional<Value>> values_;
  const Iterator<mini_flat_map, std::pair<const Key&, Value&>> end_;
  const Iterator<const mini_flat_map, const std::pair<const Key&, const Value&>> const_end_;
  std::size_t size_ = 0;
};

using shard_id_set = bitset_set<128, shard_id_t>;
template <typename Value>
using shard_id_map = mini_flat_map<shard_id_t, Value>;

static_assert(sizeof(shard_id_set) == 32);
static_assert(sizeof(shard_id_map<int>) == 24 + 2 * 40 + 8);
