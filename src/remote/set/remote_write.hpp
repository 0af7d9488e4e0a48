// SPDX-License-Identifier: Apache-2.0
// Protects files on places, and brings a set to their current state. The set is the old or the new
// one, whenever the command is interrupted.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "remote/set/commit.hpp"
#include "remote/set/shard_places.hpp"
#include "store/tree/tree_scan.hpp"

namespace calpe::remote {

struct WriteOptions {
  std::vector<std::string> exclude = {};
  bool reads_back = false;
  ChangeOptions change = {};
  OnProgress on_progress = {};
};

struct ProtectOptions {
  WriteOptions write = {};
  CodeSpec spec = {};
  std::uint32_t block_bytes = 0;    // 0: chosen
  std::uint64_t segment_bytes = 0;  // 0: chosen; rounded to whole stripes
  std::string name = {};
  bool may_resume = true;
};

struct UpdateOptions {
  WriteOptions write = {};
  bool dry_run = false;
  bool verifies = false;  // read all objects of the newest generation first
  unsigned removed_percent_max = 50;
  std::size_t keep = 2;  // generations; older ones are forgotten
};

struct WriteReport {
  Generation generation = {};
  std::size_t places_may_fail = 0;  // protect
  std::size_t places_needed = 0;    // protect: so that any one may be lost; 0: there are enough
  std::uint64_t files = 0;
  bool is_resumed = false;
  bool is_changed = true;  // update: a new generation was made
  std::uint64_t segments_written = 0;
  std::uint64_t objects_written = 0;
  std::uint64_t bytes_written = 0;
  std::vector<std::string> skipped = {};
  std::vector<store::UnreadableFile> unreadable = {};
  std::vector<std::string> added = {};
  std::vector<std::string> changed = {};
  std::vector<std::string> removed = {};
  Forgotten forgotten = {};
  // update: segments that were lost, and of these the ones that the source does not have any more.
  std::uint64_t segments_healed = 0;
  std::uint64_t segments_lost = 0;
  std::vector<std::uint64_t> generations_lost = {};  // which need such segments
};

// The places must have been listed. Fails with invalid_argument if they have a set of this name.
Result<WriteReport> protect_on_places(Places& places, const std::string& source,
                                      const ProtectOptions& options);
// Also uploads segments of the newest generation that are lost, if the source has their content.
Result<WriteReport> update_on_places(Places& places, const RemoteSet& set,
                                     const std::string& source, const UpdateOptions& options);

}  // namespace calpe::remote
