// SPDX-License-Identifier: Apache-2.0
// A map with a maximum size that evicts the least recently used.
#pragma once
#include <cstddef>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/process_fork.hpp"

namespace calpe {

// Compares keys in full, never by hash alone. Thread-safe. Values are copied out, so they should be
// shared pointers to immutable objects.
template <class Value>
class BoundedCache {
 public:
  // The capacity is a sum of weights. The newest entry stays even if it weighs more.
  explicit BoundedCache(std::size_t capacity) : capacity_(capacity) {}

  std::optional<Value> find(std::string_view key) {
    if (capacity_ == 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  // Keeps the existing value if another thread was faster.
  void insert(std::string key, Value value, std::size_t weight = 1) {
    if (capacity_ == 0) return;
    std::list<Entry> leaving;  // destroyed without the lock: may be the last reference to a kernel
    const std::lock_guard lock(mutex_);
    if (index_.contains(key)) return;
    entries_.push_front({std::move(key), std::move(value), weight});
    try {
      index_.emplace(entries_.front().key, entries_.begin());
    } catch (...) {
      entries_.pop_front();
      throw;
    }
    weight_ += weight;
    while (weight_ > capacity_ && entries_.size() > 1) {
      const auto oldest = std::prev(entries_.end());
      index_.erase(oldest->key);
      weight_ -= oldest->weight;
      leaving.splice(leaving.begin(), entries_, oldest);
    }
  }

  bool keeps_nothing() const noexcept { return capacity_ == 0; }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::string key;
    Value value;
    std::size_t weight;
  };
  const std::size_t capacity_;
  mutable ForkMutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::size_t weight_ = 0;    // of all entries
  // Views into entries_, whose nodes never move.
  std::unordered_map<std::string_view, typename std::list<Entry>::iterator> index_;
};

}  // namespace calpe
