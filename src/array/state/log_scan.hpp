// SPDX-License-Identifier: Apache-2.0
// Reads the logs of the live members after a crash: which batches exist, and which members hold
// them.
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
  std::unique_ptr<BatchHeader> header;  // never moves, as records have spans into it
  std::vector<std::byte> header_bytes = {};
  std::uint64_t holders = 0;                        // live roles with a complete part
  std::array<std::uint64_t, members_most> at = {};  // offset of the part in each role's log
  std::vector<bool> is_past = {};                   // by record: its slot is left by a later record
};

// A batch that cannot be replayed, because an earlier one is lost.
struct LaterBatch {
  unsigned role = 0;  // role whose log has it
  std::uint64_t generation = 0;
  std::uint64_t sequence = 0;
};

class LogScan {
 public:
  LogScan(const MemberLayout& layout, Roster& roster, const BlockCheck& check, BatchName name);

  // Returns all batches whose header was found, in order. All but the last were durable. The last
  // is valid only if its missing parts can be computed.
  std::vector<FoundBatch> run();

  // After run(): finds a batch after the first one that run() did not find. A batch starts only
  // when the previous one is durable, so this means that acknowledged writes are lost. A torn batch
  // has none after it. Reads the logs to the end, or only the start if the array was closed.
  std::optional<LaterBatch> find_later(bool is_closed);
  std::uint64_t first_not_found() const noexcept { return name_.sequence; }

  // Offset of a block of a part in its log; always within the log, as held parts are complete.
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
