// SPDX-License-Identifier: Apache-2.0
// Changes that become durable together: new blocks, laid out as in the logs, and new slots of
// stripes. Reads look here first (overlay.hpp).
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "array/format/log_format.hpp"
#include "array/state/buffers.hpp"

namespace calpe::array {

class Batch {
 public:
  explicit Batch(const MemberLayout& layout);
  void clear();
  bool is_empty() const noexcept { return changes_.empty(); }

  // --- filling; the caller holds the locks of the stripe and the overlay ---
  // If an allocation fails, the batch can still be read, but may hold a part of the change.

  bool fits_columns(std::uint64_t count) const noexcept;
  bool fits(RecordKind kind, std::uint64_t roles) const noexcept;
  // Returns memory for the block of a role in a column, which stays valid until clear(). Blocks of
  // one column that were put since the stripe got its slot form one record.
  std::span<std::byte> put_block(std::uint64_t stripe, std::uint32_t slot, std::uint32_t column,
                                 unsigned role, std::uint64_t check);
  // whole, zeros or hole: supersedes earlier changes to the stripe.
  void put_slot(RecordKind kind, std::uint64_t stripe, std::uint32_t slot, std::uint64_t roles,
                std::span<const std::uint64_t> checks);
  // chunk or block: checksums from a rebuild or a repair. Blocks that are put later supersede them.
  void put_found(const LogRecord& record);
  void set_needs_flush() noexcept { needs_flush_ = true; }
  bool needs_flush() const noexcept { return needs_flush_; }

  // Between them, bytes may be copied into blocks without the lock of the overlay.
  void begin_fill() noexcept { fills_.fetch_add(1, std::memory_order_relaxed); }
  void end_fill() noexcept {
    if (fills_.fetch_sub(1, std::memory_order_release) == 1) fills_.notify_all();
  }

  // --- looking; the caller holds the lock of the overlay -----------------------------------------
  enum class Found : std::uint8_t { nothing, bytes, check, zeros };
  struct Look {
    Found found = Found::nothing;
    std::span<const std::byte> bytes = {};
    std::uint64_t check = 0;
  };
  Look look(std::uint64_t stripe, std::uint32_t column, unsigned role) const;

  // --- commit; one thread at a time --------------------------------------------------------------
  // Returns when all bytes have been copied. No fill may begin any more.
  void wait_until_filled() const noexcept {
    for (unsigned left = 0; (left = fills_.load(std::memory_order_acquire)) != 0;)
      fills_.wait(left, std::memory_order_acquire);
  }
  // Omits roles that are not in `live`. The spans of the header point into the batch.
  BatchHeader header(const BatchName& name, std::uint64_t live);
  // The part of a role: header and blocks. The header is written to every part.
  std::span<std::byte> part(unsigned role, const BatchHeader& header);
  // Calls visit(stripe, slot, column, role, bytes) for blocks that were not superseded.
  template <class Visit>
  void for_each_block(const Visit& visit) const {
    for (const Change& change : changes_) {
      if (change.kind != RecordKind::blocks) continue;
      const auto found = column_of_.find(key(change.stripe, change.column));
      if (found == column_of_.end() || &changes_[found->second] != &change) continue;
      for (unsigned role = 0; role < layout_.roles(); ++role) {
        if ((change.roles >> role & 1U) == 0) continue;
        visit(change.stripe, change.slot, change.column, role,
              block_bytes_of(role, places_[change.first + role]));
      }
    }
  }

 private:
  struct Change {
    RecordKind kind = RecordKind::blocks;
    std::uint32_t column = 0;
    std::uint32_t slot = no_slot;
    std::uint64_t stripe = 0;
    std::uint64_t roles = 0;
    std::size_t first = 0;  // in checks_ (and in places_ for blocks, one per role)
  };
  std::uint64_t key(std::uint64_t stripe, std::uint32_t column) const noexcept {
    return stripe * layout_.columns + column;
  }
  std::span<std::byte> block_bytes_of(unsigned role, std::uint32_t place) const noexcept;
  void put_checks(const LogRecord& record);
  void replace_found(std::size_t before, unsigned role, std::uint64_t check) noexcept;

  const MemberLayout& layout_;
  std::vector<Change> changes_;
  std::vector<std::uint64_t> checks_;
  std::vector<std::uint32_t> places_;  // parallel to checks_: number of the block in the part
  std::unordered_map<std::uint64_t, std::size_t> column_of_;  // never iterated
  std::unordered_map<std::uint64_t, std::size_t> slot_of_;
  std::vector<AlignedBytes> parts_;    // by role: space for the header, then blocks
  std::vector<std::uint32_t> used_;    // blocks, by role
  std::vector<std::uint64_t> packed_;  // checksums of a header
  std::vector<std::byte> header_;
  std::uint64_t record_bytes_ = 0;
  std::atomic<unsigned> fills_ = 0;
  bool needs_flush_ = false;
  bool has_found_checks_ = false;
};

}  // namespace calpe::array
