// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/files_margin.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

#include "base/try.hpp"
#include "base/uuid.hpp"
#include "calpe/files/set_choice.hpp"

namespace calpe::tools {

namespace {

std::string any_text(std::size_t count, std::size_t all, std::string_view what) {
  return fmt::format("any {} of {} {}", count, all, what);
}

// " All shards are on one device." Empty if the losses in the first sentence say enough.
std::string place_text(const store::LossMargin& margin, std::string_view everything) {
  if (margin.directory_count == 1) return fmt::format(" {} are in one directory.", everything);
  std::string text;
  if (margin.shards > 0 && margin.losses.directories == 0)
    text += " Losing one directory may lose data.";
  if (margin.device_count == 1) return text + fmt::format(" {} are on one device.", everything);
  if (margin.losses.directories > 0 && margin.losses.devices == 0)
    text += " Losing one device may lose data.";
  return text;
}

std::string_view basis_text(store::MarginBasis basis) {
  switch (basis) {
    case store::MarginBasis::blocks:
      return "";
    case store::MarginBasis::headers:
      return " This assumes that no block is damaged; calpe verify checks it.";
    case store::MarginBasis::part:
      return " This assumes that no block of the other parts is damaged.";
    case store::MarginBasis::record:
      break;
  }
  return " This is based on the part that was read and on the record of the others.";
}

const char* basis_name(store::MarginBasis basis) {
  constexpr std::array<const char*, 4> basis_names = {"blocks", "headers", "part", "record"};
  return basis_names.at(static_cast<std::size_t>(basis));
}

}  // namespace

std::string quoted(const std::string& word) {
  const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

std::vector<std::string> named_folders(const FilesArguments& arguments) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const std::string& path : arguments.paths) {
    if (std::filesystem::is_directory(path, error)) folders.push_back(path);
  }
  return folders;
}

Result<Margin> margin_of(const FilesArguments& arguments, const store::FoundSet& set,
                         const store::VerifyReport& report) {
  if (!report.is_repairable()) return Margin();
  CALPE_TRY(Margin margin,
            store::margin_of(store::posix_files(), set, report.copies, named_folders(arguments)));
  // Enough blocks are good, but not enough of them are proven.
  if (!margin) margin.emplace().shard_count = set.shards.size();
  return margin;
}

Margin margin_now(const FilesArguments& arguments, const store::ShardHeader& header,
                  const std::vector<std::string>& more) {
  FilesArguments now = arguments;
  if (now.paths.empty()) now.paths.emplace_back(".");
  std::error_code error;
  std::erase_if(now.paths, [&](const std::string& path) {
    return !std::filesystem::exists(path, error);  // noted before
  });
  now.search.insert(now.search.end(), more.begin(), more.end());
  now.uuid = uuid_text(header.uuid);
  Result<HeldFindings> held = find_shards(now);
  // Another command may be changing the set; then nothing is reported.
  if (!held) return {};
  // Keep this generation only; others may be older or forged.
  std::erase_if(held->findings.sets, [&](const store::FoundSet& set) {
    return !store::is_same_set(set.header, header);
  });
  const Result<store::FoundSet> set = store::choose_set(held->findings);
  if (!set) return {};
  std::vector<std::string> named = named_folders(arguments);
  named.insert(named.end(), more.begin(), more.end());
  const Result<Margin> margin = store::margin_by_headers(store::posix_files(), *set, named);
  return margin ? *margin : Margin();
}

std::string margin_text(const store::ShardHeader& header, const store::LossMargin& margin) {
  const bool is_parity = header.kind == store::SetKind::originals;
  const std::string one = is_parity ? "part, parity file" : "shard";
  const std::string several = is_parity ? "parts and parity files" : "shards";
  if (margin.directory_count == 0)
    return fmt::format("Losing one more {} or directory may lose data.", one);
  std::string text;
  if (margin.shards == 0) {
    text = fmt::format("Losing one more {} or directory may lose data.", one);
  } else {
    text = "You can still lose " + any_text(margin.shards, margin.shard_count, several);
    if (margin.losses.directories > 0)
      text += ", or " + any_text(margin.losses.directories, margin.directory_count, "directories");
    if (margin.losses.devices > 0)
      text += ", or " + any_text(margin.losses.devices, margin.device_count, "devices");
    text += ".";
  }
  text += place_text(margin, is_parity ? "Data and parity" : "All shards");
  text += basis_text(margin.basis);
  return text;
}

bool needs_new_directory(const FilesArguments& arguments, const store::VerifyReport& report,
                         const Margin& margin) {
  const bool is_any_missing =
      std::any_of(report.shards.begin(), report.shards.end(),
                  [](const store::ShardState& shard) { return shard.path.empty(); });
  if (!is_any_missing) return false;
  std::error_code error;
  const bool is_place_missing =
      std::any_of(arguments.paths.begin(), arguments.paths.end(),
                  [&](const std::string& path) { return !std::filesystem::exists(path, error); });
  const bool is_too_few =
      margin && margin->directory_count > 1 && margin->possible.directories == 0;
  return is_place_missing || is_too_few;
}

std::string spread_note(const store::LossMargin& margin) {
  if (!margin.is_spread_badly()) return {};
  const std::size_t directories = margin.possible.directories;
  std::string note = fmt::format(
      "all shards, spread evenly over the given directories, would survive the loss of {} {} and "
      "{}",
      directories, directories == 1 ? "directory" : "directories",
      count_text(margin.possible.devices, "device"));
  if (margin.needs_repair) return note + "; run calpe repair with the same directories first";
  if (margin.moves.empty()) return note + "; move shards from full directories to others";
  note += "; to spread them: ";
  for (const store::ShardMove& move : margin.moves) {
    note += fmt::format("{}mv {} {}", &move == &margin.moves.front() ? "" : " && ",
                        quoted(move.from), quoted(move.to));
  }
  return note;
}

void add_margin(nlohmann::ordered_json& json, const Margin& margin) {
  const char* const shards = "shards_that_may_still_be_lost";
  const char* const directories = "directories_that_may_still_be_lost";
  const char* const devices = "devices_that_may_still_be_lost";
  if (!margin) {
    json[shards] = json[directories] = json[devices] = nullptr;
    return;
  }
  json[shards] = margin->shards;
  json[directories] = margin->losses.directories;
  json[devices] = margin->losses.devices;
  json["losses_are_based_on"] = basis_name(margin->basis);
  json["directories_that_could_be_lost"] = margin->possible.directories;
  json["devices_that_could_be_lost"] = margin->possible.devices;
  nlohmann::ordered_json moves = nlohmann::ordered_json::array();
  for (const store::ShardMove& move : margin->moves)
    moves.push_back({{"from", move.from}, {"to", move.to}});
  json["moves"] = moves;
}

void print_margin(const FilesArguments& arguments, const store::ShardHeader& header,
                  const Margin& margin) {
  if (!margin) return;
  if (!arguments.json) fmt::print("{}\n", margin_text(header, *margin));
  if (const std::string note = spread_note(*margin); !note.empty()) print_note(arguments, note);
}

}  // namespace calpe::tools
