// SPDX-License-Identifier: Apache-2.0
#include "store/read/set_layout.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/assert.hpp"
#include "base/try.hpp"
#include "store/read/new_shard_names.hpp"

namespace calpe::store {

std::size_t SetLayout::directory_of(const std::string& folder, const Locate& locate) {
  Whereabouts where = locate(folder);
  const auto known =
      std::find_if(directories_.begin(), directories_.end(), [&](const Directory& directory) {
        const bool is_same =
            where.inode != 0 && directory.inode == where.inode && directory.device == where.device;
        return is_same || directory.path == where.path;
      });
  if (known != directories_.end()) return static_cast<std::size_t>(known - directories_.begin());
  directories_.push_back({.folder = folder,
                          .path = std::move(where.path),
                          .device = where.device,
                          .inode = where.inode});
  return directories_.size() - 1;
}

SetLayout::SetLayout(const std::vector<PlacedCopy>& placed, const std::vector<std::string>& folders,
                     const Locate& locate) {
  for (const std::string& folder : folders) {
    directories_[directory_of(folder, locate)].is_candidate = true;
  }
  for (const PlacedCopy& copy : placed) {
    const Whereabouts where = locate(copy.path);
    const std::size_t directory = directory_of(folder_of(copy.path), locate);
    const std::size_t real = directory_of(folder_of(where.path), locate);
    Copy added = {
        .shard = copy.shard, .path = copy.path, .directories = {directory}, .devices = {}};
    if (real != directory) added.directories.push_back(real);
    added.devices = {where.device};
    const std::uint64_t named_on = directories_[directory].device;
    if (named_on != where.device) added.devices.push_back(named_on);
    copies_.push_back(std::move(added));
  }
}

void SetLayout::add_needed(std::size_t copy, const std::string& path, const Locate& locate) {
  const std::size_t directory = directory_of(folder_of(path), locate);
  const std::uint64_t device = locate(path).device;
  Copy& needs = copies_[copy];
  const auto add_once = [](auto& all, const auto& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  };
  add_once(needs.directories, directory);
  add_once(needs.devices, device);
}

std::size_t SetLayout::used_directories() const {
  std::set<std::size_t> used;
  for (const Copy& copy : copies_) {
    used.insert(copy.directories.begin(), copy.directories.end());
  }
  return used.size();
}

std::size_t SetLayout::used_devices() const {
  std::set<std::uint64_t> used;
  for (const Copy& copy : copies_) {
    used.insert(copy.devices.begin(), copy.devices.end());
  }
  return used.size();
}

bool SetLayout::is_below(std::size_t directory, std::size_t above) const {
  const std::string& path = directories_[directory].path;
  const std::string& folder = directories_[above].path;
  return path == folder || path.starts_with(in_folder(folder, ""));
}

Losses SetLayout::losses(const StripeCoder& coder, const SetCopies& copies) const {
  std::vector<CopyGroup> by_directory(directories_.size());
  std::map<std::uint64_t, CopyGroup> by_device;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    for (const std::uint64_t device : copies_[i].devices) {
      by_device[device].push_back(i);
    }
    for (std::size_t above = 0; above < directories_.size(); ++above) {
      const auto& in = copies_[i].directories;
      const bool is_lost = std::any_of(
          in.begin(), in.end(), [&](std::size_t directory) { return is_below(directory, above); });
      if (is_lost) by_directory[above].push_back(i);
    }
  }
  std::erase_if(by_directory, [](const CopyGroup& group) { return group.empty(); });
  std::vector<CopyGroup> devices;
  devices.reserve(by_device.size());
  for (auto& [device, group] : by_device) {
    devices.push_back(std::move(group));
  }
  return {.devices = losses_survived(coder, copies, devices).value_or(0),
          .directories = losses_survived(coder, copies, by_directory).value_or(0)};
}

Losses SetLayout::losses_when_whole(const StripeCoder& coder) const {
  SetCopies copies;
  for (const Copy& copy : copies_) {
    copies.shards.push_back(copy.shard);
  }
  copies.stripes.emplace_back(copies_.size(), std::uint8_t{1});
  return losses(coder, copies);
}

std::size_t SetLayout::count_in(std::size_t directory) const {
  return static_cast<std::size_t>(
      std::count_if(copies_.begin(), copies_.end(),
                    [&](const Copy& copy) { return copy.directories.front() == directory; }));
}

std::size_t SetLayout::count_on(std::uint64_t device) const {
  return static_cast<std::size_t>(
      std::count_if(copies_.begin(), copies_.end(), [&](const Copy& copy) {
        return std::find(copy.devices.begin(), copy.devices.end(), device) != copy.devices.end();
      }));
}

std::size_t SetLayout::emptiest(bool is_by_device) const {
  std::size_t best = directories_.size();
  std::tuple<std::size_t, std::size_t> fewest;
  for (std::size_t i = 0; i < directories_.size(); ++i) {
    if (!directories_[i].is_candidate) continue;
    const std::size_t here = count_in(i);
    const std::size_t there = count_on(directories_[i].device);
    const auto count = is_by_device ? std::tuple(there, here) : std::tuple(here, there);
    if (best != directories_.size() && count >= fewest) continue;
    best = i;
    fewest = count;
  }
  CALPE_ASSERT(best != directories_.size());  // callers name at least one directory
  return best;
}

void SetLayout::add(ShardIndex shard, std::size_t directory) {
  copies_.push_back({.shard = shard,
                     .path = {},
                     .directories = {directory},
                     .devices = {directories_[directory].device}});
}

std::vector<std::string> SetLayout::place(const StripeCoder& coder,
                                          const std::vector<ShardIndex>& shards) {
  const auto placed = [&](bool is_by_device) {
    SetLayout layout = *this;
    for (const ShardIndex shard : shards) {
      layout.add(shard, layout.emptiest(is_by_device));
    }
    return layout;
  };
  SetLayout chosen = placed(false);
  SetLayout by_device = placed(true);
  if (by_device.losses_when_whole(coder).is_better_than(chosen.losses_when_whole(coder))) {
    chosen = std::move(by_device);
  }
  std::vector<std::string> folders;
  for (std::size_t i = copies_.size(); i < chosen.copies_.size(); ++i) {
    folders.push_back(directories_[chosen.copies_[i].directories.front()].folder);
  }
  *this = std::move(chosen);
  return folders;
}

SetLayout SetLayout::spread_evenly(const StripeCoder& coder) const {
  SetLayout even = *this;
  even.copies_.clear();
  const CodeSpec& spec = coder.codec().spec();
  std::vector<ShardIndex> shards(std::size_t{spec.data_shards} + spec.parity_shards);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    shards[i] = static_cast<ShardIndex>(i);
  }
  even.place(coder, shards);
  return even;
}

Result<std::vector<ShardMove>> SetLayout::moves_to(FileSystem& files, const FoundSet& set,
                                                   const SetLayout& even,
                                                   const StripeCoder& coder) const {
  const std::vector<ShardMove> none;
  if (copies_.size() != even.copies_.size()) return none;
  if (!std::all_of(set.shards.begin(), set.shards.end(),
                   [](const auto& copies) { return copies.size() == 1; })) {
    return none;
  }
  SetLayout moved = *this;
  std::vector<ShardMove> moves;
  for (Copy& copy : moved.copies_) {
    const std::size_t from = copy.directories.front();
    if (copy.directories.size() > 1 || moved.count_in(from) <= even.count_in(from)) continue;
    for (std::size_t to = 0; to < directories_.size(); ++to) {
      if (moved.count_in(to) >= even.count_in(to)) continue;
      CALPE_TRY(const NewName name,
                name_for_shard(files, set.header, copy.shard, directories_[to].folder));
      if (name.is_taken) return none;
      moves.push_back({.from = copy.path, .to = name.path});
      copy.directories = {to};
      copy.devices = {directories_[to].device};
      break;
    }
  }
  const Losses after = moved.losses_when_whole(coder);
  const Losses wanted = even.losses_when_whole(coder);
  if (after != wanted && !after.is_better_than(wanted)) return none;
  return moves;
}

}  // namespace calpe::store
