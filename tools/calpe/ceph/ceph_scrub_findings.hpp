// SPDX-License-Identifier: Apache-2.0
// What a scrub found out, for people and as JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "calpe/ceph/ceph_scrub_groups.hpp"

namespace calpe::tools {

enum class ObjectState : std::uint8_t {
  sound,       // all shards are there and agree
  incomplete,  // those that are there agree, as far as they can be compared
  wrong,       // wrong shards are named, and can be corrected
  lost,        // too few shards, or nobody can say which are wrong
};

struct Finding {
  ObjectState state = ObjectState::sound;
  std::string object;
  std::string group;
  ceph::ObjectCheck check;
  std::vector<std::string> places;  // of check.wrong: where each is
  std::string reason;               // why it is lost
  std::vector<std::string> notes;
  bool is_repaired = false;
};

struct ScrubCodeName {
  std::string pool;                     // empty for files
  std::string title;                    // "4+2, plugin=isa technique=cauchy, chunks of 4096 bytes"
  std::vector<std::string> identified;  // the profiles that write these bytes, when it was asked
};

struct ScrubReport {
  std::vector<ScrubCodeName> codes;
  std::uint64_t objects = 0;
  std::uint64_t shards = 0;
  std::uint64_t bytes = 0;
  std::vector<Finding> findings;      // of objects that are not sound
  std::vector<std::string> restored;  // files
  std::vector<std::string> written;   // files with corrected shards

  std::uint64_t count(ObjectState state) const;
  std::uint64_t repaired() const;
};

nlohmann::ordered_json to_json(const ScrubReport& report);
void print_scrub(const ScrubReport& report);
// 2 when something is lost, 1 when something is not as it should be, else 0. Who restores asks
// only whether all could be.
int exit_code_of(const ScrubReport& report, bool is_restore);

}  // namespace calpe::tools
