// SPDX-License-Identifier: Apache-2.0
#include "calpe/files/verify_record.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "store/io/descriptor.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

Result<Json> read_all(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return Json::object();
  CALPE_TRY(const std::string bytes, read_file(path));
  Json json = Json::parse(bytes, nullptr, false);
  if (!json.is_object() || (json.contains("sets") && !json["sets"].is_object()))
    return invalid(path, " is not a record of calpe verify; give another file");
  return json;
}

std::int64_t time_in(const Json& json) {
  return json.is_number_integer() ? json.get<std::int64_t>() : 0;
}

// Limits the size of the file. Beyond it, ranges are joined with the stripes between them.
constexpr std::size_t runs_max = 1000;

// [first stripe, count] of each run.
Json to_json(const store::StripeRanges& ranges) {
  const auto& runs = ranges.runs();
  const std::size_t joined = (runs.size() + runs_max - 1) / runs_max;
  Json json = Json::array();
  for (std::size_t i = 0; i < runs.size(); i += joined) {
    const std::uint64_t end = runs[std::min(i + joined, runs.size()) - 1].end();
    json.push_back({runs[i].first_stripe, end - runs[i].first_stripe});
  }
  return json;
}

// Ignores what this program did not write. `stripes`: an update may have shortened the set.
store::StripeRanges ranges_in(const Json& json, std::uint64_t stripes) {
  store::StripeRanges ranges;
  std::uint64_t last = 0;
  if (!json.is_array()) return ranges;
  for (const Json& run : json) {
    const bool is_run = run.is_array() && run.size() == 2 && run[0].is_number_unsigned() &&
                        run[1].is_number_unsigned();
    if (!is_run) continue;
    const auto first = run[0].get<std::uint64_t>();
    const auto count = run[1].get<std::uint64_t>();
    if (first < last || first >= stripes) continue;
    ranges.add_run({first, std::min(count, stripes - first)});
    last = first + std::min(count, stripes - first);
  }
  return ranges;
}

Json to_json(const store::ReadDamage& damage) {
  Json shards = Json::array();
  for (const auto& [shard, ranges] : damage.shards)
    shards.push_back({{"index", shard}, {"stripes", to_json(ranges)}});
  return {{"stripes", to_json(damage.stripes)},
          {"shards", shards},
          {"contradicting", to_json(damage.contradicting)}};
}

store::ReadDamage damage_in(const Json& json, const store::ShardHeader& header) {
  store::ReadDamage damage;
  if (!json.is_object()) return damage;
  damage.stripes = ranges_in(json.value("stripes", Json()), header.stripe_count);
  damage.contradicting = ranges_in(json.value("contradicting", Json()), header.stripe_count);
  const Json shards = json.value("shards", Json());
  if (!shards.is_array()) return damage;
  const std::uint64_t count = std::uint64_t{header.spec.data_shards} + header.spec.parity_shards;
  for (const Json& shard : shards) {
    if (!shard.is_object()) continue;
    const Json index = shard.value("index", Json());
    if (!index.is_number_unsigned() || index.get<std::uint64_t>() >= count) continue;
    damage.shards[index.get<ShardIndex>()] =
        ranges_in(shard.value("stripes", Json()), header.stripe_count);
  }
  return damage;
}

}  // namespace

std::uint64_t VerifyRecord::next_part(std::uint64_t parts) const {
  if (part_times.size() != parts) return 1;
  const auto oldest = std::min_element(part_times.begin(), part_times.end());
  return static_cast<std::uint64_t>(oldest - part_times.begin()) + 1;
}

void VerifyRecord::add(std::uint64_t part, std::uint64_t parts, std::int64_t time) {
  if (part_times.size() != parts) part_times.assign(parts, complete_time);
  part_times[part - 1] = time;
  complete_time = *std::min_element(part_times.begin(), part_times.end());
}

Result<VerifyRecord> read_record(const std::string& path, const store::ShardHeader& header) {
  const std::string uuid = uuid_text(header.uuid);
  CALPE_TRY(const Json all, read_all(path));
  VerifyRecord record;
  if (!all.contains("sets") || !all["sets"].contains(uuid)) return record;
  const Json& own = all["sets"][uuid];
  if (!own.is_object()) return record;
  record.complete_time = time_in(own.value("complete", Json()));
  for (const Json& time : own.value("parts", Json::array()))
    record.part_times.push_back(time_in(time));
  record.damage = damage_in(own.value("damage", Json()), header);
  return record;
}

Status write_record(const std::string& path, const store::ShardHeader& header,
                    const VerifyRecord& record) {
  // Another verify may be writing the record of another set.
  const std::string lock_path = path + ".lock";
  const store::Descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) return store::system_error("lock", lock_path);
  CALPE_TRY(Json all, read_all(path));
  // Older versions ignore the damage.
  all["sets"][uuid_text(header.uuid)] = {{"name", header.name},
                                         {"complete", record.complete_time},
                                         {"parts", record.part_times},
                                         {"damage", to_json(record.damage)}};
  return replace_file(
      path, all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace calpe::tools
