// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/verify_metrics.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/uuid.hpp"
#include "calpe/files/files_report.hpp"

namespace calpe::tools {

namespace {

// A label value: backslash, quote and newline are escaped.
std::string escaped(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string metrics_text(const store::VerifyReport& report, const Margin& margin,
                         const VerifyRun& run) {
  const std::string labels = fmt::format(
      "{{set=\"{}\",name=\"{}\"}}", uuid_text(report.header.uuid), escaped(report.header.name));
  std::string out;
  const auto add = [&](const char* name, const char* help, auto value) {
    out += fmt::format("# HELP calpe_{0} {1}\n# TYPE calpe_{0} gauge\ncalpe_{0}{2} {3}\n", name,
                       help, labels, value);
  };
  std::uint64_t good = 0;
  std::uint64_t bad_blocks = 0;
  std::uint64_t unreadable = 0;
  for (const store::ShardState& shard : report.shards) {
    good += shard.problem.empty() ? 1 : 0;
    bad_blocks += shard.bad_blocks;
    unreadable += shard.read_error.empty() ? 0 : 1;
  }
  add("verify_state", "0: good, 1: damaged but repairable, 2: data is lost",
      run.is_newer_lost ? exit_lost : exit_code_of(report));
  add("shards", "Shards of the set", report.shards.size());
  add("shards_good", "Shards without damage", good);
  add("shards_with_read_errors", "Shards that the system could not read completely", unreadable);
  add("bad_blocks", "Missing or damaged blocks", bad_blocks);
  add("lost_stripes", "Stripes that cannot be repaired", report.lost_stripe_count);
  if (margin) add("shards_may_be_lost", "Shards that may still be lost", margin->shards);
  add("verify_seconds", "Duration of the last verify", run.seconds);
  add("verify_time_seconds", "End of the last verify", run.end_time);
  if (run.complete_time)
    add("verify_complete_time_seconds", "Every part was verified at this time or later",
        *run.complete_time);
  return out;
}

}  // namespace calpe::tools
