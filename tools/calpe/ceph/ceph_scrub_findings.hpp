// SPDX-License-Identifier: Apache-2.0
// Results of a scrub, and their output as text and JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "calpe/ceph/ceph_scrub_groups.hpp"

namespace calpe::tools {

enum class ObjectState : std::uint8_t {
  sound,       // all shards are present and consistent
  incomplete,  // some shards are missing; the others are consistent
  wrong,       // the wrong shards are known and can be corrected
  lost,        // too few shards, or unknown which ones are wrong
};

struct Finding {
  ObjectState state = ObjectState::sound;
  std::string object;
  std::string group;
  ceph::ObjectCheck check;
  std::vector<std::string> places;  // location of each entry of check.wrong
  std::string reason;               // why the object is lost
  std::vector<std::string> notes;
  bool is_repaired = false;
};

struct ScrubCodeName {
  std::string pool;                     // empty for files
  std::string title;                    // "4+2, plugin=isa technique=cauchy, chunks of 4096 bytes"
  std::vector<std::string> identified;  // matching profiles, if the code was identified
};

struct ScrubReport {
  std::vector<ScrubCodeName> codes;
  std::uint64_t objects = 0;
  std::uint64_t shards = 0;
  std::uint64_t bytes = 0;
  std::vector<Finding> findings;      // objects that are not sound
  std::vector<std::string> restored;  // paths of restored objects
  std::vector<std::string> written;   // paths of corrected shards

  std::uint64_t count(ObjectState state) const;
  std::uint64_t repaired() const;
};

nlohmann::ordered_json to_json(const ScrubReport& report);
void print_scrub(const ScrubReport& report);
// Returns exit_lost if an object is lost, exit_not_ok if one is wrong or incomplete, else exit_ok.
// With is_restore only lost objects count.
int exit_code_of(const ScrubReport& report, bool is_restore);

}  // namespace calpe::tools
