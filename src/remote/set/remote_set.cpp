// SPDX-License-Identifier: Apache-2.0
#include "remote/set/remote_set.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::remote {

namespace {

auto key_of(const Catalogue::Entry& entry) {
  return std::tie(entry.segment, entry.shard, entry.place);
}

std::vector<std::size_t> by_speed(const Places& places, const GenerationCopies& copies) {
  std::vector<std::size_t> order(copies.copies.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return places[copies.copies[a].place].slowness < places[copies.copies[b].place].slowness;
  });
  return order;
}

Result<Generation> load_copy(Places& places, const Uuid& uuid, std::uint64_t number,
                             const GenerationCopies::Copy& copy) {
  if (!places.is_up(copy.place)) return make_error(ErrorCode::io, places[copy.place].why_down);
  const std::string& label = places.label(copy.place);
  if (copy.bytes > generation_object_bytes_max)
    return make_error(ErrorCode::corrupt, label, ": the generation object is too large");
  std::vector<std::byte> bytes(copy.bytes);
  CALPE_CHECK(places[copy.place].place->read(generation_name(uuid, number), bytes, 0));
  Result<Generation> generation = parse_generation(bytes);
  if (!generation)
    return make_error(generation.error().code, label, ": ", generation.error().message);
  if (generation->header.uuid != uuid || generation->header.generation != number) {
    return make_error(ErrorCode::corrupt, label,
                      ": the generation object belongs to another set or generation");
  }
  return generation;
}

}  // namespace

const GenerationCopies* RemoteSet::find(std::uint64_t number) const noexcept {
  const auto found = std::find_if(generations.begin(), generations.end(),
                                  [&](const auto& copies) { return copies.number == number; });
  return found == generations.end() ? nullptr : &*found;
}

std::vector<RemoteSet> sets_on(const Places& places) {
  struct Found {
    std::map<std::uint64_t, NumberedCopies> generations;
    std::map<std::uint64_t, NumberedCopies> marks;
    std::vector<std::size_t> begun;
  };
  std::map<Uuid, Found> found;
  for (std::size_t place = 0; place < places.size(); ++place) {
    if (!places.is_up(place)) continue;
    for (const ListedObject& object : places[place].top) {
      const auto name = parse_top_name(object.name);
      if (!name) continue;
      Found& set = found[name->uuid];
      if (!name->generation && !name->mark) {
        set.begun.push_back(place);
        continue;
      }
      const std::uint64_t number = name->generation ? *name->generation : *name->mark;
      NumberedCopies& copies = (name->generation ? set.generations : set.marks)[number];
      copies.number = number;
      copies.copies.push_back({place, object.bytes});
    }
  }
  std::vector<RemoteSet> sets;
  for (auto& [uuid, parts] : found) {
    RemoteSet set = {.uuid = uuid, .begun = std::move(parts.begun)};
    for (auto& [number, copies] : parts.generations)
      set.generations.push_back(std::move(copies));
    for (auto& [number, copies] : parts.marks)
      set.marks.push_back(std::move(copies));
    sets.push_back(std::move(set));
  }
  return sets;
}

Result<RemoteSet> list_set_again(Places& places, const Uuid& uuid) {
  CALPE_CHECK(places.list_tops());
  for (RemoteSet& set : sets_on(places)) {
    if (set.uuid == uuid) return std::move(set);
  }
  return RemoteSet{.uuid = uuid};
}

Result<Generation> load_generation(Places& places, const RemoteSet& set,
                                   const GenerationCopies& copies) {
  std::string why;
  ErrorCode code = ErrorCode::io;
  for (const std::size_t i : by_speed(places, copies)) {
    Result<Generation> loaded = load_copy(places, set.uuid, copies.number, copies.copies[i]);
    if (loaded) return loaded;
    if (loaded.error().code == ErrorCode::corrupt) code = ErrorCode::corrupt;
    why += (why.empty() ? "" : "; ") + loaded.error().message;
  }
  return make_error(code, "generation ", copies.number, " of set ", uuid_text(set.uuid),
                    " cannot be read from any place: ", why,
                    "; add more places, or select an older one with --generation");
}

Result<std::vector<Generation>> load_generations(Places& places, const RemoteSet& set) {
  std::vector<Generation> all;
  for (const GenerationCopies& copies : set.generations) {
    CALPE_TRY(Generation generation, load_generation(places, set, copies));
    all.push_back(std::move(generation));
  }
  return all;
}

Result<Catalogue> Catalogue::load(Places& places, const Uuid& uuid, bool needs_all) {
  std::vector<std::vector<ListedObject>> lists(places.size());
  const std::vector<Status> results = places.on_each([&](std::size_t index) -> Status {
    CALPE_TRY(lists[index], places[index].place->list(set_folder(uuid)));
    return Done{};
  });
  Catalogue catalogue;
  for (std::size_t place = 0; place < places.size(); ++place) {
    if (!results[place]) {
      if (needs_all) return results[place].error();
      places.take_down(place, results[place].error().message);
      continue;
    }
    for (const ListedObject& object : lists[place]) {
      const auto name = parse_segment_name(object.name);
      if (!name) continue;
      catalogue.entries_.push_back(
          {name->segment, name->shard, static_cast<std::uint16_t>(place), object.bytes});
    }
    lists[place] = {};
  }
  std::sort(catalogue.entries_.begin(), catalogue.entries_.end(),
            [](const Entry& a, const Entry& b) { return key_of(a) < key_of(b); });
  return catalogue;
}

void Catalogue::drop(const Digest& segment, ShardIndex shard, std::size_t place) {
  const Entry wanted = {segment, shard, static_cast<std::uint16_t>(place), 0};
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), wanted,
                       [](const Entry& a, const Entry& b) { return key_of(a) < key_of(b); });
  if (found != entries_.end() && key_of(*found) == key_of(wanted)) entries_.erase(found);
}

bool Catalogue::has(const Digest& segment, ShardIndex shard, std::size_t place,
                    std::uint64_t bytes) const noexcept {
  const auto all = of(segment);
  return std::any_of(all.begin(), all.end(), [&](const Entry& entry) {
    return entry.shard == shard && entry.place == place && entry.bytes == bytes;
  });
}

std::span<const Catalogue::Entry> Catalogue::of(const Digest& segment) const noexcept {
  const auto first = std::lower_bound(
      entries_.begin(), entries_.end(), segment,
      [](const Entry& entry, const Digest& digest) { return entry.segment < digest; });
  auto last = first;
  while (last != entries_.end() && last->segment == segment)
    ++last;
  return {first, last};
}

}  // namespace calpe::remote
