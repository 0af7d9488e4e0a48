// SPDX-License-Identifier: Apache-2.0
// Parity files of originals, made anew where they are damaged or missing.
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
  const Survey& survey;  // of the same copies: says which are whole
  ThreadPool& helpers;
  const std::vector<std::string>& targets;  // as RepairOptions has them
  const std::vector<std::string>& named;
  OnProgress on_progress;
};

// The same bytes as protect wrote, under temporary names until they are on the disk. Then they are
// read back. Fails with io.
Status remake_parity(const ParityRemake& work, RepairReport& report);

}  // namespace calpe::store
