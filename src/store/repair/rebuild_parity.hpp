// SPDX-License-Identifier: Apache-2.0
// Rebuilds damaged or missing parity files of kept originals.
#pragma once
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/read/stripe_window.hpp"
#include "store/read/survey.hpp"
#include "store/repair/repair_set.hpp"

namespace calpe::store {

struct ParityRemake {
  FileSystem& files;
  const FoundSet& set;
  const OpenSet& shards;
  const StripeCoder& coder;
  const Survey& survey;  // from before originals were restored: tells which parity is intact
  ThreadPool& helpers;
  const std::vector<std::string>& targets;  // as in RepairOptions
  const std::vector<std::string>& named;
  OnProgress on_progress;
};

// Writes the same bytes as protect, under temporary names until they are durable, and reads them
// back. Fails with io.
Status remake_parity(const ParityRemake& work, RepairReport& report);

}  // namespace calpe::store
