// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/files/file_verb.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/files/set_choice.hpp"
#include "calpe/verbs.hpp"
#include "store/identify/identify.hpp"
#include "store/read/set_reader.hpp"

namespace calpe::tools {

namespace {

// Enough of each shard to distinguish all codes with 256 shards.
constexpr std::size_t looked_at_bytes = std::size_t{4} << 20U;

struct IdentifyArguments {
  FilesArguments files;
  store::IdentifyOptions options;
  bool raw = false;
};

using Shards = std::vector<std::vector<std::byte>>;

Result<store::Identification> identify(const Shards& shards,
                                       const store::IdentifyOptions& options) {
  return store::identify(std::vector<ConstShard>(shards.begin(), shards.end()), options);
}

// Reads the beginning of each file, or all of a shorter one: packets need whole groups.
Result<Shards> read_raw(const std::vector<std::string>& paths) {
  Shards shards;
  std::uint64_t bytes = 0;
  for (const std::string& path : paths) {
    CALPE_TRY(const std::unique_ptr<store::File> file, store::posix_files().open(path));
    CALPE_TRY(const std::uint64_t size, file->size());
    if (!shards.empty() && size != bytes) {
      return invalid(path, " has ", size, " bytes; expected ", bytes, " as ", paths[0],
                     "; all shards of a stripe have the same length");
    }
    bytes = size;
    shards.emplace_back(std::min<std::uint64_t>(bytes, looked_at_bytes));
    CALPE_TRY(const std::size_t got, file->read_at(shards.back(), 0));
    if (got != shards.back().size())
      return invalid(path, " became shorter while it was being read");
  }
  return shards;
}

// Reads stripes of a set in which every block is good, and concatenates them.
Result<Shards> read_set(const HeldSet& held) {
  const store::FoundSet& set = held.set;
  const Error none_whole = {ErrorCode::unrecoverable,
                            "no stripe of the set is complete; run calpe repair first"};
  if (set.present() < set.expected()) return none_whole;  // without reading any block
  CALPE_TRY(store::SetReader reader, store::SetReader::open(*held.files, set));
  const store::ShardHeader& header = reader.header();
  const std::size_t block = header.block_bytes;
  const std::uint64_t stripes = std::min<std::uint64_t>(
      header.stripe_count, std::max<std::size_t>(1, looked_at_bytes / block));
  Shards shards(set.shards.size());
  for (std::uint64_t stripe = 0; stripe < stripes; ++stripe) {
    store::SetReader::Blocks blocks;
    CALPE_CHECK(reader.read_blocks({stripe, 1}, blocks));
    if (!std::ranges::all_of(blocks.good, [](const auto& good) { return good[0]; })) continue;
    for (std::size_t s = 0; s < shards.size(); ++s)
      shards[s].insert(shards[s].end(), blocks.blocks[s].begin(), blocks.blocks[s].end());
  }
  if (shards[0].empty()) return none_whole;
  return shards;
}

nlohmann::ordered_json found_json(const store::Identification& found) {
  return {{"profiles", found.profiles},
          {"data_shards", found.spec.data_shards},
          {"parity_shards", found.spec.parity_shards},
          {"layout", found.spec.layout == Layout::bytes ? "bytes" : "packets"},
          {"word_bits", found.spec.word_bits},
          {"polynomial", found.spec.polynomial},
          {"packet_bytes", found.spec.packet_bytes},
          {"parity_rows", found.rows}};
}

std::string compatible_with(const std::string& name) {
  for (const Profile& profile : list_profiles()) {
    if (profile.name == name && profile.compatible != "none")
      return std::string(profile.compatible);
  }
  return "no other library";
}

void print_found(const store::Identification& found) {
  const CodeSpec& spec = found.spec;
  fmt::print("{}+{}, {}, {}-bit symbols, polynomial {:#x}\n", spec.data_shards, spec.parity_shards,
             spec.layout == Layout::bytes ? "layout bytes"
                                          : fmt::format("packets of {} bytes", spec.packet_bytes),
             spec.word_bits, spec.polynomial);
  if (!found.profiles.empty()) fmt::print("  {:<22} COMPATIBLE WITH\n", "PROFILE");
  for (const std::string& name : found.profiles)
    fmt::print("  {:<22} {}\n", name, compatible_with(name));
  if (found.profiles.empty()) fmt::print("  no built-in profile has these parity rows:\n");
  for (std::size_t r = 0; r < spec.parity_shards && found.profiles.empty(); ++r) {
    const std::span row = std::span(found.rows).subspan(r * spec.data_shards, spec.data_shards);
    fmt::print("  {}\n", fmt::join(row, " "));
  }
}

Result<int> run(const IdentifyArguments& arguments) {
  if (arguments.raw) {
    CALPE_TRY(const Shards shards, read_raw(arguments.files.paths));
    CALPE_TRY(const store::Identification found, identify(shards, arguments.options));
    if (arguments.files.json) {
      print_json(found_json(found));
    } else {
      print_found(found);
    }
    return exit_ok;
  }
  CALPE_TRY(const HeldSet held, find_one_set(arguments.files));
  const store::FoundSet& set = held.set;
  CALPE_TRY(const Shards shards, read_set(held));
  store::IdentifyOptions options = arguments.options;
  options.data_shards = set.header.spec.data_shards;
  CALPE_TRY(const store::Identification found, identify(shards, options));
  CALPE_TRY(const std::vector<std::uint16_t> rows, parity_rows(set.header.spec));
  const bool agrees = found.rows == rows;
  if (arguments.files.json) {
    nlohmann::ordered_json json = found_json(found);
    json["set"] = to_json(set.header);
    json["header_agrees"] = agrees;
    print_json(json);
  } else {
    fmt::print("{}\n", set_title(set.header));
    print_found(found);
    fmt::print("{}\n", agrees ? "The parity rows match the code in the headers."
                              : "The parity rows do NOT match the code in the headers.");
  }
  return agrees ? exit_ok : exit_lost;
}

}  // namespace

void add_identify_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<IdentifyArguments>();
  CLI::App* const command = add_files_verb(
      app, arguments->files, "identify",
      "Identify the code that wrote some shards\n\n"
      "Solves for the parity rows and compares them with every profile. With --raw, the files are "
      "shards of any program, in order, data first.");
  command->footer(std::string(exit_codes_help) +
                  "\n\nExample: calpe identify --raw obj.0 obj.1 obj.2 obj.3 --data 2\n"
                  "Example: calpe identify /mnt/a /mnt/b\n\nSee calpe-identify(1).");
  add_set_options(*command, arguments->files);
  CLI::Option* const raw = command->add_flag("--raw", arguments->raw,
                                             "Treat the files as shards without headers, in order");
  command
      ->add_option("--data", arguments->options.data_shards,
                   "With --raw: number of data shards (default: detected)")
      ->needs(raw);
  command
      ->add_option("--packet-bytes", arguments->options.packet_bytes,
                   "With --raw: packet size (default: the usual sizes are tried)")
      ->type_name("BYTES")
      ->needs(raw);
  command->callback([arguments, &exit_code] {
    exit_code =
        run_files_verb(arguments->files, [&](const FilesArguments&) { return run(*arguments); });
  });
}

}  // namespace calpe::tools
