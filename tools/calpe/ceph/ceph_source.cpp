// SPDX-License-Identifier: Apache-2.0
#include "calpe/ceph/ceph_source.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include "base/allocation_guard.hpp"
#include "base/files.hpp"
#include "base/printable.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "base/try.hpp"
#include "ceph/pool_flags.hpp"

namespace calpe::tools {

namespace {

constexpr std::chrono::hours time_limit(24);  // an export takes long for a large group
constexpr std::size_t output_bytes_max = std::size_t{256}
                                         << 20U;  // enough for maps of large clusters
constexpr std::size_t at_once_max = 16;
constexpr int pool_type_erasure = 3;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (end != start) lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

Error failure(const OsdPlace& osd, const ExitStatus& status) {
  if (status.output.find("Resource temporarily unavailable") != std::string::npos) {
    const std::string id = osd.name.substr(osd.name.find('.') + 1);
    return make_error(ErrorCode::io, osd.name, " at ", osd.path,
                      " is still running; stop it first: ceph osd set noout, then "
                      "systemctl stop ceph-osd@",
                      id, "; start it again afterwards");
  }
  const std::vector<std::string> lines = lines_of(status.output);
  return make_error(ErrorCode::io, "ceph-objectstore-tool on ", osd.path, " ", to_string(status),
                    lines.empty() ? "" : ": ", lines.empty() ? "" : printable(lines.back(), 300));
}

// "1.as2" -> "1.a", 2. Returns nullopt for groups of replicated pools.
std::optional<std::pair<std::string, ShardIndex>> split_group_id(const std::string& id) {
  const std::size_t mark = id.find('s');
  if (mark == std::string::npos) return std::nullopt;
  ShardIndex shard = 0;
  const char* const end = id.data() + id.size();
  const auto [stop, status] = std::from_chars(id.data() + mark + 1, end, shard);
  if (status != std::errc() || stop != end) return std::nullopt;
  return std::pair(id.substr(0, mark), shard);
}

// Names the object in the format of --op list, which the tool accepts as an operand.
std::string object_text(const WriteBack& shard) {
  const nlohmann::ordered_json object = {{"oid", shard.object.name},
                                         {"key", shard.object.key},
                                         {"snapid", shard.object.snapshot},
                                         {"hash", shard.object.hash},
                                         {"max", 0},
                                         {"pool", shard.object.pool},
                                         {"namespace", shard.object.space},
                                         {"shard_id", shard.shard}};
  return nlohmann::ordered_json::array({shard.place.group_id, object})
      .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Parses the JSON part of the output; the program may print other lines first.
nlohmann::json parsed(const std::string& text) {
  const std::size_t start = text.find('{');
  return start == std::string::npos ? nlohmann::json()
                                    : nlohmann::json::parse(text.substr(start), nullptr, false);
}

std::vector<CephPool> pools_of(const nlohmann::json& map) {
  std::vector<CephPool> pools;
  if (!map.is_object()) return pools;
  const nlohmann::json profiles = map.value("erasure_code_profiles", nlohmann::json::object());
  for (const nlohmann::json& entry : map.value("pools", nlohmann::json::array())) {
    if (entry.value("type", 0) != pool_type_erasure) continue;
    CephPool pool;
    pool.id = entry.value("pool", std::int64_t{0});
    pool.name = entry.value("pool_name", "");
    const nlohmann::json profile =
        profiles.value(entry.value("erasure_code_profile", ""), nlohmann::json::object());
    for (const auto& [key, value] : profile.items())
      pool.keys[key] = value.is_string() ? value.get<std::string>() : value.dump();
    const std::uint64_t width = entry.value("stripe_width", std::uint64_t{0});
    const std::string data = pool.keys.contains("k") ? pool.keys["k"] : "";
    std::uint64_t count = 0;
    std::from_chars(data.data(), data.data() + data.size(), count);
    if (count != 0) pool.chunk_bytes = width / count;
    const std::uint64_t flags = entry.value("flags", std::uint64_t{0});
    pool.is_optimised = (flags & ceph::pool_flag_optimised) != 0;
    pools.push_back(std::move(pool));
  }
  return pools;
}

}  // namespace

Result<std::vector<std::string>> StoppedOsds::run(const std::vector<Command>& commands) const {
  std::vector<std::string> outputs;
  for (std::size_t first = 0; first < commands.size(); first += at_once_max) {
    const std::size_t last = std::min(first + at_once_max, commands.size());
    std::vector<Subprocess> running;
    for (std::size_t i = first; i < last; ++i) {
      // Do not ask the monitors for settings; they may be down.
      std::vector<std::string> words = {tool_, "--no-mon-config", "--data-path",
                                        commands[i].osd.path};
      words.insert(words.end(), commands[i].arguments.begin(), commands[i].arguments.end());
      CALPE_TRY(Subprocess process, Subprocess::start(words, time_limit, {}, output_bytes_max));
      running.push_back(std::move(process));
    }
    // Wait for all processes even after a failure. Killing one may leave its OSD unclean.
    std::optional<Error> failed;
    for (std::size_t i = first; i < last; ++i) {
      ExitStatus status = running[i - first].wait();
      if (!status.is_success() && !failed) failed = failure(commands[i].osd, status);
      outputs.push_back(std::move(status.output));
    }
    if (failed) return *failed;
  }
  return outputs;
}

Result<StoppedOsds> StoppedOsds::open(const std::vector<std::string>& paths) {
  StoppedOsds osds;
  const std::optional<std::string> tool = find_program("ceph-objectstore-tool");
  if (!tool) {
    return make_error(ErrorCode::backend_unavailable,
                      "ceph-objectstore-tool is not in PATH; install the package ceph-osd");
  }
  osds.tool_ = *tool;
  std::set<std::string> seen;
  for (const std::string& path : paths) {
    const Result<std::string> id = read_file(store::in_folder(path, "whoami"));
    if (!id) {
      return invalid(path, ": not the data path of an OSD (", id.error().message,
                     "); expected a path such as /var/lib/ceph/osd/ceph-0");
    }
    const std::vector<std::string> lines = lines_of(*id);
    std::string name = text("osd.", lines.empty() ? "?" : lines[0]);
    if (seen.insert(name).second) osds.places_.push_back({path, std::move(name)});
  }
  std::vector<Command> commands;
  for (const OsdPlace& place : osds.places_)
    commands.push_back({place, {"--op", "list-pgs"}});
  CALPE_TRY(const std::vector<std::string> answers, osds.run(commands));
  for (const std::string& answer : answers)
    osds.group_ids_.push_back(lines_of(answer));
  return osds;
}

Result<std::vector<CephPool>> StoppedOsds::pools(const std::string& folder) const {
  const std::optional<std::string> map_tool = find_program("osdmaptool");
  if (!map_tool) {
    return make_error(ErrorCode::backend_unavailable,
                      "osdmaptool is not in PATH; install the package ceph-base");
  }
  const std::string file = store::in_folder(folder, "osdmap");
  CALPE_TRY([[maybe_unused]] const auto done,
            run({{places_.front(), {"--op", "get-osdmap", "--file", file}}}));
  CALPE_TRY(Subprocess process, Subprocess::start({*map_tool, file, "--dump", "json"}, time_limit,
                                                  {}, output_bytes_max));
  const ExitStatus status = process.wait();
  const nlohmann::json map = parsed(status.output);
  if (!status.is_success() || !map.is_object()) {
    return make_error(ErrorCode::io, "osdmaptool on the map of ", places_.front().name, " ",
                      to_string(status),
                      "; expected its pools as JSON; instead, export the placement groups and "
                      "scrub the files with --profile");
  }
  return pools_of(map);
}

GroupPlaces StoppedOsds::groups(std::int64_t pool) const {
  GroupPlaces groups;
  const std::string beginning = text(pool, ".");
  for (std::size_t i = 0; i < places_.size(); ++i) {
    for (const std::string& id : group_ids_[i]) {
      const auto split = split_group_id(id);
      if (split && id.starts_with(beginning))
        groups[split->first].emplace(split->second, places_[i]);
    }
  }
  return groups;
}

Result<std::vector<std::string>> StoppedOsds::groups_with(const std::string& object) const {
  std::vector<Command> commands;
  for (const OsdPlace& place : places_)
    commands.push_back({place, {"--op", "list", object}});
  CALPE_TRY(const std::vector<std::string> answers, run(commands));
  std::set<std::string> groups;
  for (const std::string& answer : answers) {
    for (const std::string& line : lines_of(answer)) {
      const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
      if (!entry.is_array() || entry.empty() || !entry[0].is_string()) continue;
      const auto split = split_group_id(entry[0].get<std::string>());
      if (split) groups.insert(split->first);
    }
  }
  return std::vector<std::string>(groups.begin(), groups.end());
}

Status StoppedOsds::export_group(const GroupPlaces::value_type& group, const std::string& folder,
                                 ScrubGroups& objects) const {
  std::vector<Command> commands;
  std::vector<std::string> files;
  for (const auto& [shard, osd] : group.second) {
    const std::string id = fmt::format("{}s{}", group.first, shard);
    files.push_back(store::in_folder(folder, fmt::format("{}-{}", id, osd.name)));
    commands.push_back({osd, {"--op", "export", "--pgid", id, "--file", files.back()}});
  }
  CALPE_TRY([[maybe_unused]] const auto done, run(commands));
  for (std::size_t i = 0; i < files.size(); ++i) {
    CALPE_TRY(const std::unique_ptr<store::File> file, store::posix_files().open(files[i]));
    CALPE_TRY(ceph::CephExport found, ceph::read_ceph_export(*file));
    objects.add_export(files[i], commands[i].osd.path, std::move(found));
  }
  return Done{};
}

Status StoppedOsds::write_one(const WriteBack& shard) const {
  const auto place = std::ranges::find(places_, shard.place.osd, &OsdPlace::path);
  const std::string read_back = text(shard.file, ".read");
  Command set{*place, {"--pgid", shard.place.group_id, object_text(shard)}};
  Command get = set;
  set.arguments.insert(set.arguments.end(), {"set-bytes", shard.file});
  get.arguments.insert(get.arguments.end(), {"get-bytes", read_back});
  CALPE_TRY([[maybe_unused]] const auto wrote, run({set}));
  CALPE_TRY([[maybe_unused]] const auto read, run({get}));
  CALPE_TRY(const std::string meant, read_file(shard.file));
  CALPE_TRY(const std::string held, read_file(read_back));
  if (meant != held) {
    return make_error(ErrorCode::io, "shard ", shard.shard, " of ", shard.name, " in ",
                      shard.place.osd, ": the bytes read back differ from those written");
  }
  remove_file(shard.file);
  remove_file(read_back);
  return Done{};
}

Status StoppedOsds::write_back(const std::vector<WriteBack>& shards) const {
  // Write to one OSD sequentially, to several OSDs in parallel.
  std::map<std::string, std::vector<const WriteBack*>> by_osd;
  for (const WriteBack& shard : shards)
    by_osd[shard.place.osd].push_back(&shard);
  std::vector<std::vector<const WriteBack*>> queues(std::min(by_osd.size(), at_once_max));
  std::size_t next = 0;
  for (const auto& entry : by_osd) {
    std::vector<const WriteBack*>& queue = queues[next++ % queues.size()];
    queue.insert(queue.end(), entry.second.begin(), entry.second.end());
  }
  std::vector<Status> results(queues.size(), Done{});
  run_side_by_side(queues.size(), [&](std::size_t i) {
    results[i] = guarded([&]() -> Status {
      for (const WriteBack* shard : queues[i])
        CALPE_CHECK(write_one(*shard));
      return Done{};
    });
  });
  for (Status& result : results) {
    if (!result) return std::move(result);
  }
  return Done{};
}

}  // namespace calpe::tools
