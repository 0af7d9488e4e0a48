// SPDX-License-Identifier: Apache-2.0
// A disk in memory that can undo writes. It remembers every write since the last flush that was not
// durable, with the old bytes. Making and undoing a crash state costs as much as was written, not
// the size of the disk.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace calpe::tests {

inline constexpr std::size_t sector_bytes = 512;  // written atomically

// A buffer that grows without zeroing the new bytes.
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

  // Writes in order. Those from `unsynced_from()` on may be lost, except durable ones.
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

  // One remembered write.
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

  // Cuts the power: keeps the unsynced sectors for which stays(number, number within its write) is
  // true. Calls it once per sector, in the order of writes. The remaining contents are durable.
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

  // Undoes all writes since `mark`, synced or not.
  void undo_to(std::size_t mark) {
    while (writes_.size() > mark) {
      const Write& write = writes_.back();
      std::memcpy(bytes_.data() + write.offset, old_of(write), write.bytes);
      kept_.shrink(write.kept_at);
      writes_.pop_back();
    }
    synced_ = std::min(synced_, mark);
  }
  // Forgets synced writes, which are never undone.
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
    std::size_t kept_at;  // in kept_: old bytes, then new bytes
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

  // Merges runs of kept sectors into one write.
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
      from = to + 1;  // `to` is not kept
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
