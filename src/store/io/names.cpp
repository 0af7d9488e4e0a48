// SPDX-License-Identifier: Apache-2.0
#include "store/io/names.hpp"

#include "base/text.hpp"
#include "store/io/file_system.hpp"

namespace calpe::store {

namespace {

std::string name_beside(const std::string& path, const Uuid& uuid, std::size_t shard,
                        std::string_view ending) {
  return in_folder(folder_of(path), text(temporary_begin(uuid),
                                         shard_number(static_cast<ShardIndex>(shard)), ending));
}

}  // namespace

std::string shard_number(ShardIndex index) {
  std::string number = std::to_string(index);
  number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
  return number;
}

std::string shard_file_name(const std::string& name, ShardIndex index) {
  return text(name, ".s", shard_number(index), ".calpe");
}

bool is_shard_file_name(std::string_view file, std::string_view name) {
  const std::string_view back = ".calpe";
  const std::string front = text(name, ".s");
  if (file.size() <= front.size() + back.size() || !file.starts_with(front)) return false;
  return file.ends_with(back) &&
         file.find_first_not_of("0123456789", front.size()) == file.size() - back.size();
}

bool is_temporary(const std::string& path) noexcept {
  return name_of(path).starts_with(temporary_prefix);
}

std::string temporary_begin(const Uuid& uuid) {
  return text(temporary_prefix, uuid_text(uuid), "-s");
}

std::string part_path(const std::string& path, const Uuid& uuid, std::size_t shard) {
  return name_beside(path, uuid, shard, ".part");
}

std::string aside_path(const std::string& path, const Uuid& uuid, std::size_t shard) {
  return name_beside(path, uuid, shard, ".old");
}

}  // namespace calpe::store
