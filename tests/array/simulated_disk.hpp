// SPDX-License-Identifier: Apache-2.0
// A disk in memory that remembers what a power cut could take back: every write since the last
// flush that was not durable by itself, with the bytes that were there before. Crash states and
// their undoing cost what was written, not what the disk holds.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace calpe::tests {

inline constexpr std::size_t sector_bytes = 512;  // what a disk writes whole or not at all

// Bytes at the end of others, which nobody sets to zero before they are written.
class GrowingBytes {
 public:
  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }
  void grow(std::size_t by) {
    if (size_ + by > capacity_) {
      capacity_ = std::max(2 * capacity_, size_ + by);
      auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity_);
      if (size_ != 0) std::memcpy(larger.get(), bytes_.get(), size_);
      bytes_ = std::move(larger);
    }
    size_ += by;
  }
  void shrink(std::size_t to) { size_ = to; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

class SimulatedDisk {
 public:
  explicit SimulatedDisk(std::uint64_t bytes = 0) : bytes_(bytes) {}

  std::uint64_t size() const { return bytes_.size(); }
  std::span<std::byte> content() { return bytes_; }
  std::span<const std::byte> content() const { return bytes_; }

  void read(std::uint64_t offset, std::span<std::byte> to) const {
    if (!to.empty()) std::memcpy(to.data(), bytes_.data() + offset, to.size());
  }
  void write(std::uint64_t offset, std::span<const std::byte> from) {
    if (from.empty()) return;
    const Write entry = {offset, from.size(), kept_.size(), false};
    kept_.grow(2 * entry.bytes);
    std::memcpy(old_of(entry), bytes_.data() + offset, entry.bytes);
    std::memcpy(new_of(entry), from.data(), entry.bytes);
    std::memcpy(bytes_.data() + offset, from.data(), entry.bytes);
    writes_.push_back(entry);
  }

  // Of writes in their order: those from `unsynced_from()` on may be lost, but for durable ones.
  std::size_t writes() const { return writes_.size(); }
  std::size_t unsynced_from() const { return synced_; }
  void sync_first(std::size_t writes) {
    synced_ = std::max(synced_, writes);
    pass_durable();
  }
  void make_durable(std::size_t index) {
    writes_[index].is_durable = true;
    pass_durable();
  }

  // One write since those that were forgotten.
  struct Seen {
    std::uint64_t offset;
    std::span<const std::byte> bytes;
    bool is_durable;
  };
  Seen seen(std::size_t index) const {
    const Write& write = writes_[index];
    return {
        write.offset, {kept_.data() + write.kept_at + write.bytes, write.bytes}, write.is_durable};
  }

  // The power goes: of the unsynced sectors those stay of which stays(number, number within its
  // write) says so; asked once for each, in the order in which they were written. What is left is
  // durable.
  template <class Stays>
  void cut_power(Stays stays) {
    if (synced_ == writes_.size()) return;
    lost_.assign(writes_.begin() + static_cast<std::ptrdiff_t>(synced_), writes_.end());
    lost_bytes_.clear();
    for (Write& write : lost_) {
      const std::size_t at = lost_bytes_.size();
      lost_bytes_.insert(lost_bytes_.end(), new_of(write), new_of(write) + write.bytes);
      write.kept_at = at;
    }
    undo_to(synced_);
    std::size_t number = 0;
    for (const Write& write : lost_) {
      if (write.is_durable) {
        this->write(write.offset, std::span(lost_bytes_).subspan(write.kept_at, write.bytes));
        continue;
      }
      put_back(write, number, stays);
      number += sectors_of(write);
    }
    synced_ = writes_.size();
  }

  // Writes since `mark` are undone, synced or not.
  void undo_to(std::size_t mark) {
    while (writes_.size() > mark) {
      const Write& write = writes_.back();
      std::memcpy(bytes_.data() + write.offset, old_of(write), write.bytes);
      kept_.shrink(write.kept_at);
      writes_.pop_back();
    }
    synced_ = std::min(synced_, mark);
  }
  // Synced writes need not be undone any more.
  void forget_synced() {
    if (synced_ < writes_.size()) return;
    writes_.clear();
    kept_.shrink(0);
    synced_ = 0;
  }

 private:
  struct Write {
    std::uint64_t offset;
    std::size_t bytes;
    std::size_t kept_at;  // in kept_: what was there, then what was written
    bool is_durable;
  };

  static std::size_t sectors_of(const Write& write) {
    return (write.bytes + sector_bytes - 1) / sector_bytes;
  }
  void pass_durable() {
    while (synced_ < writes_.size() && writes_[synced_].is_durable) {
      ++synced_;
    }
  }
  std::byte* old_of(const Write& write) { return kept_.data() + write.kept_at; }
  std::byte* new_of(const Write& write) { return old_of(write) + write.bytes; }

  // Runs of sectors that stay become one write again.
  template <class Stays>
  void put_back(const Write& write, std::size_t number, Stays& stays) {
    const std::size_t sectors = sectors_of(write);
    for (std::size_t from = 0; from < sectors;) {
      if (!stays(number + from, from)) {
        ++from;
        continue;
      }
      std::size_t to = from + 1;
      while (to < sectors && stays(number + to, to)) {
        ++to;
      }
      const std::size_t begin = from * sector_bytes;
      const std::size_t end = std::min(to * sector_bytes, write.bytes);
      this->write(write.offset + begin,
                  std::span(lost_bytes_).subspan(write.kept_at + begin, end - begin));
      from = to + 1;  // `to` was asked already, and does not stay
    }
  }

  std::vector<std::byte> bytes_;
  std::vector<Write> writes_;
  GrowingBytes kept_;
  std::size_t synced_ = 0;
  std::vector<Write> lost_;
  std::vector<std::byte> lost_bytes_;
};

}  // namespace calpe::tests
