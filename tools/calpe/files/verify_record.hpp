// SPDX-License-Identifier: Apache-2.0
// A file that records when each part of each set was last verified, and the damage found there.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "store/read/read_damage.hpp"

namespace calpe::tools {

// Times are in seconds since 1970; 0: never.
struct VerifyRecord {
  std::vector<std::int64_t> part_times;  // by part
  std::int64_t complete_time = 0;        // everything was verified at this time or later
  store::ReadDamage damage = {};         // not read good since

  // The part that was verified longest ago, from 1.
  std::uint64_t next_part(std::uint64_t parts) const;
  // Notes that a part was verified at `time`.
  void add(std::uint64_t part, std::uint64_t parts, std::int64_t time);
};

// Reads the record of a set; a missing file or set is an empty record. Fails with io, and with
// invalid_argument if the file is not such a record.
Result<VerifyRecord> read_record(const std::string& path, const store::ShardHeader& header);
// Replaces the record of a set and keeps those of other sets. Fails as read_record().
Status write_record(const std::string& path, const store::ShardHeader& header,
                    const VerifyRecord& record);

}  // namespace calpe::tools
