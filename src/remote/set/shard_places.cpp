// SPDX-License-Identifier: Apache-2.0
#include "remote/set/shard_places.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "store/read/loss_count.hpp"

namespace calpe::remote {

namespace {

// Sets have few kinds of segments, unless places lost objects here and there.
constexpr std::size_t kinds_max = 256;

using ObjectCounts = std::vector<std::vector<std::uint64_t>>;  // objects by shard and place

ObjectCounts count_objects(const Catalogue& catalogue, std::size_t shards, std::size_t places) {
  ObjectCounts counts(shards, std::vector<std::uint64_t>(places));
  for (const Catalogue::Entry& entry : catalogue.entries()) {
    if (entry.shard < shards) ++counts[entry.shard][entry.place];
  }
  return counts;
}

}  // namespace

Homes choose_homes(const Catalogue& catalogue, std::size_t shards, std::size_t places) {
  const ObjectCounts counts = count_objects(catalogue, shards, places);
  Homes homes(shards, places);
  std::vector<std::size_t> load(places);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const auto most = std::max_element(counts[shard].begin(), counts[shard].end());
    if (*most == 0) continue;
    homes[shard] = static_cast<std::size_t>(most - counts[shard].begin());
    ++load[homes[shard]];
  }
  for (std::size_t& home : homes) {
    if (home != places) continue;
    const auto least = std::min_element(load.begin(), load.end());
    home = static_cast<std::size_t>(least - load.begin());
    ++*least;
  }
  return homes;
}

Homes spread_evenly(Homes homes, const Catalogue& catalogue, std::size_t places) {
  const ObjectCounts counts = count_objects(catalogue, homes.size(), places);
  std::vector<std::size_t> load(places);
  for (const std::size_t home : homes)
    ++load[home];
  while (true) {
    const auto from = static_cast<std::size_t>(
        std::distance(load.begin(), std::max_element(load.begin(), load.end())));
    const auto to = static_cast<std::size_t>(
        std::distance(load.begin(), std::min_element(load.begin(), load.end())));
    if (load[from] <= load[to] + 1) return homes;
    std::size_t moved = homes.size();
    for (std::size_t shard = homes.size(); shard-- > 0;) {
      if (homes[shard] != from) continue;
      if (moved == homes.size() || counts[shard][to] > counts[moved][to]) moved = shard;
    }
    homes[moved] = to;
    --load[from];
    ++load[to];
  }
}

void PlaceMargin::add(std::vector<Object> good) {
  std::sort(good.begin(), good.end());
  kinds_.insert(std::move(good));
  if (kinds_.size() <= kinds_max) return;
  // What all kinds have is a lower bound for each.
  std::vector<Object> common = *kinds_.begin();
  for (const std::vector<Object>& kind : kinds_) {
    std::vector<Object> both;
    std::set_intersection(common.begin(), common.end(), kind.begin(), kind.end(),
                          std::back_inserter(both));
    common = std::move(both);
  }
  kinds_ = {std::move(common)};
}

std::size_t PlaceMargin::may_fail() const {
  std::map<Object, std::size_t> copy_of;
  for (const std::vector<Object>& kind : kinds_) {
    for (const Object& object : kind)
      copy_of.emplace(object, 0);
  }
  store::SetCopies copies;
  std::vector<store::CopyGroup> groups(places_);
  for (auto& [object, copy] : copy_of) {
    copy = copies.shards.size();
    copies.shards.push_back(object.shard);
    groups[object.place].push_back(copy);
  }
  for (const std::vector<Object>& kind : kinds_) {
    std::vector<std::uint8_t>& stripe = copies.stripes.emplace_back(copies.shards.size());
    for (const Object& object : kind)
      stripe[copy_of[object]] = 1;
  }
  if (copies.stripes.empty()) return 0;
  return store::losses_survived(coder_.stripes(), copies, groups).value_or(0);
}

std::size_t places_may_fail(const SegmentCoder& coder, const Homes& homes, std::size_t places) {
  std::vector<PlaceMargin::Object> good;
  for (std::size_t shard = 0; shard < homes.size(); ++shard)
    good.push_back({static_cast<ShardIndex>(shard), homes[shard]});
  PlaceMargin margin(coder, places);
  margin.add(std::move(good));
  return margin.may_fail();
}

std::size_t promised_losses(const SegmentCoder& coder, const Generation& generation) {
  if (generation.places_may_fail) return *generation.places_may_fail;
  std::map<std::string, std::size_t> places;
  Homes homes;
  for (const std::string& label : generation.labels)
    homes.push_back(places.emplace(label, places.size()).first->second);
  return places_may_fail(coder, homes, places.size());
}

}  // namespace calpe::remote
