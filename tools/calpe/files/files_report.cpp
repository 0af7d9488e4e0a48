// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/files_report.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/uuid.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/files/code_text.hpp"
#include "calpe/files/files_roots.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

std::uint64_t count_good(const store::VerifyReport& report) {
  return static_cast<std::uint64_t>(
      std::count_if(report.shards.begin(), report.shards.end(),
                    [](const store::ShardState& shard) { return shard.problem.empty(); }));
}

std::uint64_t count_present(const store::VerifyReport& report) {
  return static_cast<std::uint64_t>(
      std::count_if(report.shards.begin(), report.shards.end(),
                    [](const store::ShardState& shard) { return !shard.path.empty(); }));
}

std::uint64_t count_changed(const store::VerifyReport& report) {
  return static_cast<std::uint64_t>(std::count_if(
      report.originals.begin(), report.originals.end(), [](const store::OriginalState& state) {
        return state.damage == store::OriginalDamage::changed;
      }));
}

Json root_json(const store::ShardHeader& header) {
  if (header.root_kind == store::RootKind::none) return nullptr;
  return store::to_text(header.set_root);
}

void print_lost(const store::VerifyReport& report) {
  if (report.is_list_lost) {
    fmt::print("Not repairable: no parity file has a good file list.\n");
    return;
  }
  if (report.lost_stripe_count == 0) {
    fmt::print("Not repairable: nothing shows which blocks are wrong.\n");
    return;
  }
  const unsigned needed = report.header.spec.data_shards;
  fmt::print("Not repairable: {} of {} {} fewer than the {} good blocks needed: {}.\n",
             report.lost_stripe_count, count_text(report.header.stripe_count, "stripe"),
             report.lost_stripe_count == 1 ? "has" : "have", needed,
             list_text(report.lost_stripes, report.lost_stripe_count));
  const std::uint64_t present = count_present(report);
  if (report.header.kind == store::SetKind::originals) {
    fmt::print(
        "Find missing parity files and add their directories, restore files from another copy, or "
        "give the path of the files with --original if they are elsewhere.\n");
  } else if (present < needed) {
    fmt::print("{} found, {} needed; find {} more and add the directories.\n",
               count_text(present, "shard"), needed, needed - present);
  } else {
    fmt::print(
        "Find the missing shards, or better copies of the damaged ones, and add their "
        "directories.\n");
  }
}

// Prints the first files that are not good.
void print_originals(const store::VerifyReport& report) {
  constexpr std::size_t printed_max = 100;
  const auto& states = report.originals;
  for (std::size_t i = 0; i < std::min(states.size(), printed_max); ++i)
    fmt::print("{}: {}\n", printable(states[i].path), printable(states[i].problem));
  if (states.size() > printed_max)
    fmt::print("and {} more\n", count_text(states.size() - printed_max, "file"));
  if (report.header.kind == store::SetKind::originals && !report.is_list_lost && states.empty())
    fmt::print("No file has changed since it was protected.\n");
}

}  // namespace

const char* name_of(store::OriginalDamage damage) {
  switch (damage) {
    case store::OriginalDamage::missing:
      return "missing";
    case store::OriginalDamage::damaged:
      return "damaged";
    case store::OriginalDamage::changed:
      return "changed";
  }
  return "?";
}

const char* shard_word(const store::ShardHeader& header) {
  return header.kind == store::SetKind::originals ? "parity file" : "shard";
}

int exit_code_of(const store::VerifyReport& report) {
  if (report.is_good()) return exit_ok;
  return report.is_repairable() ? exit_not_ok : exit_lost;
}

const char* state_of(const store::VerifyReport& report) {
  if (report.is_good()) return "good";
  return report.is_repairable() ? "damaged" : "lost";
}

void print_report(const store::VerifyReport& report, bool needs_directory) {
  print_originals(report);
  for (const store::ShardState& shard : report.shards) {
    if (shard.problem.empty()) continue;
    fmt::print("{} {}: {}{}{}\n", shard_word(report.header), shard.index, printable(shard.path),
               shard.path.empty() ? "" : ": ", printable(shard.problem));
  }
  if (report.is_only_interrupted()) {
    fmt::print(
        "{}: An update was interrupted; all data is intact. Run calpe repair to complete it.\n",
        set_title(report.header));
    return;
  }
  fmt::print("{}: {} of {} are good.\n", set_title(report.header), count_good(report),
             count_text(report.shards.size(), shard_word(report.header)));
  if (report.contradicting_stripes != 0) {
    fmt::print("{} whose data and parity contradict each other although all checksums match.\n",
               count_text(report.contradicting_stripes, "stripe"));
  }
  if (report.is_good()) return;
  if (!report.is_repairable()) {
    print_lost(report);
    return;
  }
  const std::uint64_t changed = count_changed(report);
  const bool has_others =
      changed != report.originals.size() || count_good(report) != report.shards.size();
  std::string step;
  if (has_others || changed == 0) {
    step = fmt::format(": run calpe repair with {}",
                       needs_directory ? "these directories and one on the replacement disk"
                                       : "the same directories");
  }
  fmt::print("Damaged in {} of {}; all can be repaired{}.\n", report.bad_stripes,
             count_text(report.header.stripe_count, "stripe"), step);
  if (changed == 0) return;
  fmt::print(
      "{} changed since protect, which repair keeps: run calpe update to protect the change, or "
      "calpe repair --overwrite to undo it.\n",
      count_text(changed, "file"));
}

Json to_json(const store::ShardHeader& header) {
  return {{"uuid", uuid_text(header.uuid)},
          {"name", header.name},
          {"kind", header.kind == store::SetKind::originals ? "originals" : "shards"},
          {"generation", header.generation},
          {"profile", profile_name(header.spec)},
          {"data_shards", header.spec.data_shards},
          {"parity_shards", header.spec.parity_shards},
          {"block_bytes", header.block_bytes},
          {"stripes", header.stripe_count},
          {"content_bytes", header.content_bytes},
          {"root_kind", root_kind_name(header.root_kind)},
          {"root", root_json(header)}};
}

Json to_json(const store::VerifyReport& report) {
  Json shards = Json::array();
  for (const store::ShardState& shard : report.shards) {
    shards.push_back({{"index", shard.index},
                      {"path", shard.path},
                      {"headers_good", shard.headers_good},
                      {"size_good", shard.size_good},
                      {"bad_blocks", shard.bad_blocks},
                      {"root", root_state_name(shard.root)},
                      {"read_error", shard.read_error},
                      {"problem", shard.problem}});
  }
  Json originals = Json::array();
  for (const store::OriginalState& state : report.originals) {
    originals.push_back(
        {{"path", state.path}, {"state", name_of(state.damage)}, {"problem", state.problem}});
  }
  return {{"state", state_of(report)},
          {"originals", originals},
          {"set", to_json(report.header)},
          {"good_shards", count_good(report)},
          {"bad_stripes", report.bad_stripes},
          {"lost_stripe_count", report.lost_stripe_count},
          {"lost_stripes", report.lost_stripes},
          {"contradicting_stripes", report.contradicting_stripes},
          {"shards", shards}};
}

std::string set_title(const store::ShardHeader& header) {
  return fmt::format("{} ({}+{} {}, set {})", printable(header.name), header.spec.data_shards,
                     header.spec.parity_shards, profile_name(header.spec),
                     uuid_text(header.uuid).substr(0, 8));
}

}  // namespace calpe::tools
