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

Result<VerifyRecord> read_record(const std::string& path, const std::string& uuid) {
  CALPE_TRY(const Json all, read_all(path));
  VerifyRecord record;
  if (!all.contains("sets") || !all["sets"].contains(uuid)) return record;
  const Json& own = all["sets"][uuid];
  if (!own.is_object()) return record;
  record.complete_time = time_in(own.value("complete", Json()));
  for (const Json& time : own.value("parts", Json::array()))
    record.part_times.push_back(time_in(time));
  return record;
}

Status write_record(const std::string& path, const std::string& uuid, const std::string& name,
                    const VerifyRecord& record) {
  // Another verify may be writing the record of another set.
  const std::string lock_path = path + ".lock";
  const store::Descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock || ::flock(lock.get(), LOCK_EX) != 0) return store::system_error("lock", lock_path);
  CALPE_TRY(Json all, read_all(path));
  all["sets"][uuid] = {
      {"name", name}, {"complete", record.complete_time}, {"parts", record.part_times}};
  return replace_file(
      path, all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace calpe::tools
