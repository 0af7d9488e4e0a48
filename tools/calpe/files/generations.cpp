// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/generations.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress_bar.hpp"
#include "store/find/older_generations.hpp"

namespace calpe::tools {

namespace {

// Numbers of generations are four times the microseconds since 1970, except for the first.
constexpr std::uint64_t steps_per_second = 4'000'000;
constexpr std::uint64_t earliest_second = 1'000'000'000;

std::vector<store::FoundSet> all_generations(const store::Findings& findings,
                                             const store::FoundSet& newest) {
  std::vector<store::FoundSet> all = {newest};
  for (store::FoundSet& older : store::kept_generations(findings, newest.header))
    all.push_back(std::move(older));
  return all;
}

std::vector<std::uint64_t> numbers(const std::vector<ShardIndex>& shards) {
  return {shards.begin(), shards.end()};
}

}  // namespace

Status use_generation(const std::string& wanted, store::Findings& findings) {
  if (wanted.empty()) return Done{};
  CALPE_TRY(const store::FoundSet newest, store::choose_set(findings));
  std::vector<store::FoundSet> all = all_generations(findings, newest);
  if (wanted == "previous") {
    if (all.size() < 2 && !findings.unread_undo.empty()) {
      return make_error(ErrorCode::io, findings.unread_undo.front().why,
                        "; the previous generation was not found without it");
    }
    if (all.size() < 2)
      return invalid("the set has no older generation; calpe update --keep keeps some");
    findings.sets = {std::move(all[1])};
    findings.older.clear();
    return Done{};
  }
  const auto found = std::find_if(all.begin(), all.end(), [&](const store::FoundSet& set) {
    return std::to_string(set.header.generation) == wanted;
  });
  if (found == all.end() && !findings.unread_undo.empty()) {
    return make_error(ErrorCode::io, findings.unread_undo.front().why, "; generation ", wanted,
                      " was not found without it");
  }
  if (found == all.end()) {
    return invalid("--generation is \"", wanted, "\"; expected \"previous\" or one of the ",
                   all.size(), " that calpe info lists");
  }
  findings.sets = {std::move(*found)};
  findings.older.clear();
  return Done{};
}

std::string generation_time(std::uint64_t generation) {
  const std::uint64_t seconds = generation / steps_per_second;
  if (seconds < earliest_second) return {};
  return utc_text(static_cast<std::int64_t>(seconds)) + " UTC";
}

std::string generation_text(const store::OlderGeneration& older) {
  const std::string time = generation_time(older.set.header.generation);
  return fmt::format("generation {}{}, {} of {} shards, {}{}", older.set.header.generation,
                     time.empty() ? "" : ", " + time, older.set.present(), older.set.expected(),
                     bytes_text(older.undo_bytes),
                     older.is_restorable ? "" : ", can no longer be restored");
}

nlohmann::ordered_json to_json(const std::vector<store::OlderGeneration>& older) {
  auto list = nlohmann::ordered_json::array();
  for (const store::OlderGeneration& one : older) {
    list.push_back({{"generation", one.set.header.generation},
                    {"time", generation_time(one.set.header.generation)},
                    {"shards_present", one.set.present()},
                    {"restorable", one.is_restorable},
                    {"missing", one.missing},
                    {"damaged", one.damaged},
                    {"undo_bytes", one.undo_bytes}});
  }
  return list;
}

bool report_older(const FilesArguments& arguments,
                  const std::vector<store::OlderGeneration>& older) {
  bool is_good = true;
  for (const store::OlderGeneration& one : older) {
    if (one.is_good()) continue;
    is_good = false;
    std::string what;
    if (!one.missing.empty())
      what += " without undo journal: shard " + list_text(numbers(one.missing), one.missing.size());
    if (!one.damaged.empty()) {
      what += text(what.empty() ? "" : ";", " with a damaged undo journal: shard ",
                   list_text(numbers(one.damaged), one.damaged.size()));
    }
    print_note(arguments,
               text("older generation ", one.set.header.generation, what,
                    one.is_restorable ? "; run calpe repair"
                                      : text("; it can no longer be restored, and calpe forget "
                                             "--generation ",
                                             one.set.header.generation, " removes it")));
  }
  return is_good;
}

}  // namespace calpe::tools
