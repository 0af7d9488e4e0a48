// SPDX-License-Identifier: Apache-2.0
// Reads the logs of the live members after a crash: which batches there are, and who holds them.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "array/format/block_check.hpp"
#include "array/format/log_format.hpp"
#include "array/state/log_reader.hpp"
#include "array/state/roster.hpp"

namespace calpe::array {

struct FoundBatch {
  std::unique_ptr<BatchHeader> header;  // never moves: records have spans into it
  std::vector<std::byte> header_bytes = {};
  std::uint64_t holders = 0;                        // live roles that have all of their part
  std::array<std::uint64_t, members_most> at = {};  // offset of the part in a role's log
  std::vector<bool> is_past = {};  // by record: blocks of a slot that a later record leaves
};

// A batch in a log that cannot be replayed, as one before it is lost.
struct LaterBatch {
  unsigned role = 0;  // that has it
  std::uint64_t generation = 0;
  std::uint64_t sequence = 0;
};

class LogScan {
 public:
  LogScan(const MemberLayout& layout, Roster& roster, const BlockCheck& check, BatchName name);

  // All batches of which a header is there, in order. Whether the last one counts is not said: that
  // is so when the parts that are lacking can be computed. Those before it were durable.
  std::vector<FoundBatch> run();

  // After run(): a batch later than the first one that run() did not find. A batch is begun when
  // the one before is durable, so acknowledged writes are lost. A torn batch has none after it.
  // Reads the logs to their ends, or if a closed array left them empty, only their starts.
  std::optional<LaterBatch> find_later(bool is_closed);
  std::uint64_t first_not_found() const noexcept { return name_.sequence; }

  // Where a block of a part is in its log. It is within the log: who has a part has all of it.
  static std::uint64_t block_at(const FoundBatch& batch, const LogRecord& record, unsigned role) {
    return batch.at[role] + batch.header->bytes + record.words_of(role)[1] * block_bytes;
  }
  bool is_right(const LogRecord& record, unsigned role, std::span<const std::byte> block) const {
    const BlockPlace place{role, record.stripe, record.slot, record.column};
    return check_.of(place, block) == record.words_of(role)[0];
  }

 private:
  struct Next {
    bool is_read = false;
    std::vector<std::byte> bytes = {};
    std::unique_ptr<BatchHeader> header = {};
  };
  void look(unsigned role);
  std::optional<LaterBatch> later_at(unsigned role, std::uint64_t at,
                                     std::span<const std::byte> block);
  bool holds(const FoundBatch& batch, unsigned role);
  bool fits(const BatchHeader& header) const;

  const MemberLayout& layout_;
  Roster& roster_;
  const BlockCheck& check_;
  BatchName name_;
  LogReader reader_;
  std::array<std::uint64_t, members_most> at_ = {};
  std::vector<Next> next_;
};

}  // namespace calpe::array
