// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/ceph/ceph_scrub_files.hpp"
#include "calpe/ceph/ceph_scrub_work.hpp"
#include "calpe/ceph/ceph_source.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/files/file_verb.hpp"
#include "calpe/verbs.hpp"
#include "ceph/identify_profile.hpp"
#include "ceph/shard_ends.hpp"

namespace calpe::tools {

namespace {

constexpr std::size_t identified_objects_max = 20;

struct ScrubArguments {
  FilesArguments files;
  std::vector<std::string> osds;
  std::string pool;
  std::vector<std::string> groups;
  std::vector<std::string> objects;
  std::string profile;
  std::string stripe_unit;
  std::uint64_t size = 0;
  bool has_size = false;
  store::IdentifyOptions identify;
  ScrubOrders orders;
};

std::string code_title(const CodeSpec& spec, std::uint64_t chunk_bytes, const std::string& keys) {
  return fmt::format("{}+{}, {}, chunks of {} bytes", spec.data_shards, spec.parity_shards, keys,
                     chunk_bytes);
}

std::string keys_text(const ceph::CephKeys& keys) {
  std::string out;
  for (const char* key :
       {"plugin", "technique", "profile", "layout", "w", "packetsize", "packet_bytes", "l"}) {
    const auto found = keys.find(key);
    if (found != keys.end())
      out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, found->second);
  }
  return out;
}

Result<ScrubCode> code_of(const ceph::CephKeys& keys, std::uint64_t chunk_bytes,
                          const std::string& pool, ScrubReport& report) {
  CALPE_TRY(const ceph::CephCode code, ceph::ceph_code(keys, chunk_bytes));
  CALPE_TRY(Codec codec, Codec::create(code.spec));
  report.codes.push_back({pool, code_title(codec.spec(), code.chunk_bytes, keys_text(keys)), {}});
  return ScrubCode{std::move(codec), code.chunk_bytes};
}

Result<ceph::CephKeys> given_keys(const ScrubArguments& arguments) {
  CALPE_TRY(ceph::CephKeys keys, ceph::parse_ceph_keys(arguments.profile));
  if (!arguments.stripe_unit.empty()) keys["stripe_unit"] = arguments.stripe_unit;
  return keys;
}

// Identifies the code from the first object that allows it.
Result<ScrubCode> identified_code(const ScrubArguments& arguments,
                                  const std::vector<ScrubObject>& objects, ScrubReport& report) {
  std::size_t count = 0;
  for (const ScrubObject& object : objects)
    count = std::max<std::size_t>(count, object.places.rbegin()->first + std::size_t{1});
  std::optional<Error> first;
  std::size_t tried = 0;
  for (ScrubObject object : objects) {
    if (object.places.size() != count || ++tried > identified_objects_max) continue;
    CALPE_TRY(ceph::CephShards shards, load_shards(object, count));
    // Shards of optimised pools have different lengths.
    CALPE_CHECK(ceph::extend_shards({.data_shards = 1, .chunk_bytes = 1}, shards));
    const auto found = ceph::identify_object(shards, arguments.identify);
    if (!found && !first) first = found.error();
    if (!found) continue;
    ceph::CephKeys unit = {{"plugin", "isa"}, {"k", "1"}, {"m", "1"}};
    if (!arguments.stripe_unit.empty()) unit["stripe_unit"] = arguments.stripe_unit;
    CALPE_TRY(const ceph::CephCode like, ceph::ceph_code(unit));
    const std::uint64_t group = std::uint64_t{found->spec.word_bits} * found->spec.packet_bytes;
    const std::uint64_t chunk =
        group == 0 || like.chunk_bytes % group == 0 ? like.chunk_bytes : group;
    CALPE_TRY(Codec codec, ceph::codec_of(*found));
    ScrubCodeName name;
    for (const std::string& profile : found->profiles) {
      for (std::string& keys : ceph::ceph_names(profile, found->spec))
        name.identified.push_back(std::move(keys));
    }
    name.title = code_title(found->spec, chunk, "identified from the shards");
    if (name.identified.empty())
      name.identified.emplace_back("matches no profile of Ceph or Calpe");
    report.codes.push_back(std::move(name));
    return ScrubCode{std::move(codec), chunk};
  }
  return make_error(first ? first->code : ErrorCode::ambiguous,
                    first ? first->message : text("no object has all ", count, " shards"),
                    "; give the code with --profile, such as \"plugin=isa k=4 m=2\"");
}

bool is_asked_for(const ScrubArguments& arguments, const ScrubObject& object) {
  const auto is_it = [&](const std::string& name) {
    return object.name == name || (object.id && object.id->name == name);
  };
  return arguments.objects.empty() || std::ranges::any_of(arguments.objects, is_it);
}

Result<ScrubReport> scrub_files(const ScrubArguments& arguments) {
  CALPE_TRY(std::vector<ScrubObject> objects, find_objects(arguments.files));
  std::erase_if(objects,
                [&](const ScrubObject& object) { return !is_asked_for(arguments, object); });
  if (objects.empty()) return invalid("no object has a name that --object gives");
  if (arguments.has_size && objects.size() != 1) {
    return invalid("--size is given for ", objects.size(),
                   " objects; expected one; select it with --object");
  }
  if (arguments.has_size) objects[0].bytes = arguments.size;
  const bool has_exports =
      std::ranges::any_of(objects, [](const ScrubObject& object) { return object.id.has_value(); });
  if (has_exports && arguments.orders.repair && arguments.orders.output.empty()) {
    return invalid(
        "--repair cannot write into an export; use -o DIR for the corrected shards, and write "
        "them back with ceph-objectstore-tool set-bytes");
  }
  ScrubReport report;
  CALPE_TRY(const ceph::CephKeys keys, given_keys(arguments));
  CALPE_TRY(const ScrubCode code, arguments.profile.empty()
                                      ? identified_code(arguments, objects, report)
                                      : code_of(keys, 0, "", report));
  Progress bar("scrubbing");
  for (std::size_t i = 0; i < objects.size(); ++i) {
    CALPE_CHECK(scrub_object(code, arguments.orders, std::move(objects[i]), report));
    bar.update(report.bytes, report.bytes / (i + 1) * objects.size());
  }
  return report;
}

// Scrubs the groups of one pool one at a time, to bound the space for exports.
Status scrub_pool(const ScrubArguments& arguments, const StoppedOsds& osds, const ScrubCode& code,
                  const GroupPlaces& groups, ScrubReport& report) {
  Progress bar("scrubbing");
  for (const auto& group : groups) {
    CALPE_TRY(const TemporaryFolder folder, TemporaryFolder::create());
    ScrubGroups found;
    CALPE_CHECK(osds.export_group(group, folder.path(), found));
    std::vector<WriteBack> corrected;
    ScrubOrders orders = arguments.orders;
    orders.put_back = [&](const ScrubObject& object, ShardIndex shard,
                          std::span<const std::byte> bytes) -> Result<bool> {
      const std::string name = fmt::format("corrected-{}", corrected.size());
      CALPE_CHECK(write_new(folder.path(), name, bytes));
      corrected.push_back({object.name, object.places.at(shard), *object.id, shard,
                           store::in_folder(folder.path(), name)});
      return true;
    };
    for (ScrubObject& object : found.take()) {
      if (!is_asked_for(arguments, object)) continue;
      CALPE_CHECK(scrub_object(code, orders, std::move(object), report));
      bar.update(report.bytes, 0);
    }
    CALPE_CHECK(osds.write_back(corrected));
  }
  return Done{};
}

Result<std::vector<CephPool>> pools_of(const ScrubArguments& arguments, const StoppedOsds& osds) {
  CALPE_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  CALPE_TRY(std::vector<CephPool> pools, osds.pools(folder.path()));
  std::string names;
  for (const CephPool& pool : pools)
    names += (names.empty() ? "" : ", ") + pool.name;
  if (!arguments.pool.empty())
    std::erase_if(pools, [&](const CephPool& pool) { return pool.name != arguments.pool; });
  if (!pools.empty()) return pools;
  if (arguments.pool.empty()) return invalid("the OSDs have no erasure-coded pool");
  return invalid("--pool is ", arguments.pool,
                 "; expected an erasure-coded pool: ", names.empty() ? "none exists" : names);
}

Result<std::vector<std::string>> groups_of(const ScrubArguments& arguments,
                                           const StoppedOsds& osds) {
  std::vector<std::string> groups = arguments.groups;
  for (const std::string& object : arguments.objects) {
    CALPE_TRY(const std::vector<std::string> more, osds.groups_with(object));
    if (more.empty()) return invalid("none of these OSDs has an object ", object);
    groups.insert(groups.end(), more.begin(), more.end());
  }
  return groups;
}

Result<ScrubReport> scrub_osds(const ScrubArguments& arguments) {
  CALPE_TRY(const StoppedOsds osds, StoppedOsds::open(arguments.osds));
  CALPE_TRY(const std::vector<CephPool> pools, pools_of(arguments, osds));
  CALPE_TRY(const std::vector<std::string> wanted, groups_of(arguments, osds));
  CALPE_TRY(const ceph::CephKeys given, given_keys(arguments));
  ScrubReport report;
  std::size_t group_count = 0;
  for (const CephPool& pool : pools) {
    GroupPlaces groups = osds.groups(pool.id);
    std::erase_if(groups, [&](const auto& group) {
      return !wanted.empty() && std::ranges::find(wanted, group.first) == wanted.end();
    });
    if (groups.empty()) continue;
    group_count += groups.size();
    Result<ScrubCode> code = code_of(given.empty() ? pool.keys : given,
                                     given.empty() ? pool.chunk_bytes : 0, pool.name, report);
    if (!code && arguments.pool.empty() && wanted.empty() && pools.size() > 1) {
      print_note(arguments.files, text("pool ", pool.name, " is skipped: ", code.error().message));
      continue;
    }
    if (!code) return make_error(code.error().code, "pool ", pool.name, ": ", code.error().message);
    code->is_optimised = pool.is_optimised;
    if (pool.is_optimised) report.codes.back().title += ", allow_ec_optimizations";
    CALPE_CHECK(scrub_pool(arguments, osds, *code, groups, report));
  }
  if (group_count == 0) {
    return invalid("the OSDs have none of the given placement groups; expected IDs such as 2.1f");
  }
  return report;
}

Result<int> scrub(const ScrubArguments& arguments) {
  const bool is_osds = !arguments.osds.empty();
  if (is_osds && !arguments.files.paths.empty())
    return invalid("both --osd and files are given; expected one of them");
  CALPE_TRY(const ScrubReport report, is_osds ? scrub_osds(arguments) : scrub_files(arguments));
  if (arguments.files.json) {
    print_json(to_json(report));
  } else {
    print_scrub(report);
  }
  return exit_code_of(report, !arguments.orders.restore.empty());
}

void add_code_options(CLI::App& command, ScrubArguments& arguments) {
  command
      .add_option("--profile", arguments.profile,
                  "Erasure-code profile, such as \"plugin=isa k=4 m=2\" (default: detected)")
      ->type_name("KEYS");
  command
      .add_option("--stripe-unit", arguments.stripe_unit,
                  "Chunk size, such as 16K (default: from the profile, else 4096)")
      ->type_name("BYTES");
  command.add_option("--data", arguments.identify.data_shards,
                     "Number of data shards, if the profile is not given");
  command
      .add_option("--packet-bytes", arguments.identify.packet_bytes,
                  "Packet size, if the profile is not given (default: try powers of two)")
      ->type_name("BYTES");
}

}  // namespace

void add_ceph_scrub_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ScrubArguments>();
  CLI::App* const command = add_files_verb(
      app, arguments->files, "ceph-scrub",
      "Find and correct wrong shards in erasure-coded Ceph pools\n\n"
      "Compares the shards of each object with each other. This finds wrong shards whose checksums "
      "are right, which a deep scrub misses. Reads stopped OSDs (--osd), or files: NAME.0, NAME.1 "
      "and so on, or exports of placement groups. Changes no shard without --repair.");
  command->footer(
      text(exit_codes_help,
           "\nExample: calpe ceph-scrub --osd /var/lib/ceph/osd/ceph-0 --osd "
           "/var/lib/ceph/osd/ceph-1\n"
           "Example: calpe ceph-scrub shards/ --profile \"plugin=jerasure k=4 m=2\" --restore "
           "objects/\nSee calpe-ceph-scrub(1) and docs/ceph.md."));
  command
      ->add_option("PATH", arguments->files.paths,
                   "Directories or files with shards (default: the current directory)")
      ->type_name("FILE");
  command->add_option("--osd", arguments->osds, "Data path of a stopped OSD; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
  command->add_option("--pool", arguments->pool, "With --osd: this pool only")->type_name("NAME");
  command
      ->add_option("--pgid", arguments->groups,
                   "With --osd: this placement group only, such as 2.1f; repeatable")
      ->type_name("ID")
      ->allow_extra_args(false);
  command->add_option("--object", arguments->objects, "Only objects with this name; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_code_options(*command, *arguments);
  command->add_flag("--repair", arguments->orders.repair,
                    "Write corrected shards in place of the wrong ones");
  command
      ->add_option("-o,--output", arguments->orders.output,
                   "With --repair: write corrected shards here instead, as NAME.N")
      ->type_name("DIR")
      ->needs("--repair");
  command
      ->add_option("--restore", arguments->orders.restore,
                   "Restore the objects to files in this directory")
      ->type_name("DIR");
  command
      ->add_option("--save", arguments->orders.save,
                   "Save the unmodified shards in this directory, as NAME.N")
      ->type_name("DIR");
  CLI::Option* const size =
      command
          ->add_option("--size", arguments->size,
                       "Size of the object, for files of shards (default: whole stripes)")
          ->type_name("BYTES");
  command->callback([arguments, size, &exit_code] {
    arguments->has_size = size->count() != 0;
    exit_code =
        run_files_verb(arguments->files, [&](const FilesArguments&) { return scrub(*arguments); });
  });
}

}  // namespace calpe::tools
