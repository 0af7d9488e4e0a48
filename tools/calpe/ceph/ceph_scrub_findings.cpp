// SPDX-License-Identifier: Apache-2.0
#include "calpe/ceph/ceph_scrub_findings.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/printable.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress_bar.hpp"

namespace calpe::tools {

namespace {

const char* state_name(ObjectState state) {
  switch (state) {
    case ObjectState::sound:
      return "sound";
    case ObjectState::incomplete:
      return "incomplete";
    case ObjectState::wrong:
      return "wrong";
    case ObjectState::lost:
      break;
  }
  return "lost";
}

std::string wrong_text(const Finding& finding, std::size_t index) {
  const ceph::WrongShard& wrong = finding.check.wrong[index];
  const std::string where = finding.places[index].empty() ? "" : " in " + finding.places[index];
  if (wrong.has_other_length)
    return fmt::format("shard {}{} has a different length", wrong.shard, where);
  return fmt::format("shard {}{} is wrong in stripe {} of {}", wrong.shard, where,
                     list_text(wrong.stripes, wrong.stripes.size()), finding.check.stripe_count);
}

void print_finding(const Finding& finding) {
  const std::string group = finding.group.empty() ? "" : finding.group + " ";
  const std::string title = group + printable(finding.object);
  const std::string repaired = finding.is_repaired ? "; corrected" : "";
  for (std::size_t i = 0; i < finding.check.wrong.size(); ++i)
    fmt::print("{}: {}{}\n", title, wrong_text(finding, i), repaired);
  const std::vector<std::uint64_t>& unexplained = finding.check.unexplained;
  if (!unexplained.empty()) {
    fmt::print(
        "{}: the shards are inconsistent in stripe {} of {}; cannot tell which one is wrong\n",
        title, list_text(unexplained, unexplained.size()), finding.check.stripe_count);
  }
  if (!finding.reason.empty()) fmt::print("{}: {}\n", title, printable(finding.reason));
  if (!finding.check.missing.empty()) {
    fmt::print("{}: shard {} is missing{}\n", title, fmt::join(finding.check.missing, ", "),
               finding.check.is_checked ? "" : "; no redundancy is left to check the others");
  }
  for (const std::string& note : finding.notes)
    fmt::print("{}: {}\n", title, printable(note));
}

nlohmann::ordered_json to_json(const Finding& finding) {
  nlohmann::ordered_json wrong = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < finding.check.wrong.size(); ++i) {
    const ceph::WrongShard& shard = finding.check.wrong[i];
    wrong.push_back({{"shard", shard.shard},
                     {"place", finding.places[i]},
                     {"has_other_length", shard.has_other_length},
                     {"stripes", shard.stripes}});
  }
  return {{"object", finding.object},
          {"group", finding.group},
          {"state", state_name(finding.state)},
          {"stripe_count", finding.check.stripe_count},
          {"wrong", wrong},
          {"missing", finding.check.missing},
          {"unexplained_stripes", finding.check.unexplained},
          {"reason", finding.reason},
          {"notes", finding.notes},
          {"repaired", finding.is_repaired}};
}

}  // namespace

std::uint64_t ScrubReport::count(ObjectState state) const {
  if (state == ObjectState::sound) return objects - findings.size();
  return static_cast<std::uint64_t>(std::ranges::count(findings, state, &Finding::state));
}

std::uint64_t ScrubReport::repaired() const {
  return static_cast<std::uint64_t>(std::ranges::count(findings, true, &Finding::is_repaired));
}

nlohmann::ordered_json to_json(const ScrubReport& report) {
  nlohmann::ordered_json codes = nlohmann::ordered_json::array();
  for (const ScrubCodeName& code : report.codes)
    codes.push_back({{"pool", code.pool}, {"code", code.title}, {"identified", code.identified}});
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const Finding& finding : report.findings)
    findings.push_back(to_json(finding));
  const int exit_code = exit_code_of(report, false);
  return {{"state", exit_code == exit_ok       ? "good"
                    : exit_code == exit_not_ok ? "damaged"
                                               : "lost"},
          {"codes", codes},
          {"objects", report.objects},
          {"shards", report.shards},
          {"bytes", report.bytes},
          {"sound", report.count(ObjectState::sound)},
          {"incomplete", report.count(ObjectState::incomplete)},
          {"wrong", report.count(ObjectState::wrong)},
          {"lost", report.count(ObjectState::lost)},
          {"repaired", report.repaired()},
          {"findings", findings},
          {"written", report.written},
          {"restored", report.restored}};
}

void print_scrub(const ScrubReport& report) {
  for (const ScrubCodeName& code : report.codes) {
    if (!code.pool.empty()) fmt::print("pool {}: ", printable(code.pool));
    fmt::print("{}\n", code.title);
    for (const std::string& name : code.identified)
      fmt::print("  {}\n", name);
  }
  for (const Finding& finding : report.findings)
    print_finding(finding);
  for (const std::string& path : report.written)
    fmt::print("wrote {}\n", printable(path));
  const std::uint64_t wrong = report.count(ObjectState::wrong);
  fmt::print("{}, {}, {}: {} sound", count_text(report.objects, "object"),
             count_text(report.shards, "shard"), bytes_text(report.bytes),
             report.count(ObjectState::sound));
  if (const auto count = report.count(ObjectState::incomplete); count != 0)
    fmt::print(", {} incomplete", count);
  if (wrong != 0) fmt::print(", {} with a wrong shard, {} corrected", wrong, report.repaired());
  if (const auto count = report.count(ObjectState::lost); count != 0)
    fmt::print(", {} not correctable", count);
  if (!report.restored.empty()) fmt::print("; {} restored", report.restored.size());
  fmt::print("\n");
  if (wrong > report.repaired() && report.written.empty())
    fmt::print("run again with --repair to correct the wrong shards\n");
}

int exit_code_of(const ScrubReport& report, bool is_restore) {
  if (report.count(ObjectState::lost) != 0) return exit_lost;
  if (is_restore) return exit_ok;
  const bool is_whole = report.count(ObjectState::incomplete) == 0 &&
                        report.count(ObjectState::wrong) == report.repaired();
  return is_whole ? exit_ok : exit_not_ok;
}

}  // namespace calpe::tools
