// SPDX-License-Identifier: Apache-2.0
#include "remote/set/commit.hpp"

#include <algorithm>
#include <atomic>

#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/format/segment_object.hpp"
#include "remote/set/segment_writer.hpp"

namespace calpe::remote {

namespace {

bool has_anywhere(const Catalogue& catalogue, const Segment& segment, std::size_t shard,
                  std::uint64_t bytes) {
  const auto all = catalogue.of(segment.digest);
  return std::any_of(all.begin(), all.end(), [&](const Catalogue::Entry& entry) {
    return entry.shard == shard && entry.bytes == bytes;
  });
}

std::vector<std::uint64_t> numbers_of(const RemoteSet& set) {
  std::vector<std::uint64_t> numbers;
  for (const GenerationCopies& copies : set.generations)
    numbers.push_back(copies.number);
  return numbers;
}

Status remove_begun_mark(Places& places, const Uuid& uuid) {
  return places.on_all(
      [&](std::size_t index) { return places[index].place->remove(begun_name(uuid)); });
}

// Calls visit(i, place, name, bytes) for each copy of generation i that is missing or wrong, on the
// places side by side.
template <class Visit>
Status for_each_missing_copy(Places& places, const RemoteSet& set,
                             const std::vector<Generation>& generations, const Visit& visit) {
  for (std::size_t i = 0; i < generations.size(); ++i) {
    const Generation& generation = generations[i];
    CALPE_TRY(const std::vector<std::byte> bytes, to_bytes(generation));
    const std::string name = generation_name(set.uuid, generation.header.generation);
    const GenerationCopies* const copies = set.find(generation.header.generation);
    const auto look = [&](std::size_t index) -> Status {
      const bool is_there = std::any_of(
          copies->copies.begin(), copies->copies.end(),
          [&](const auto& copy) { return copy.place == index && copy.bytes == bytes.size(); });
      std::vector<std::byte> found(bytes.size());
      if (is_there && places[index].place->read(name, found, 0) && found == bytes) return Done{};
      return visit(i, *places[index].place, name, bytes);
    };
    CALPE_CHECK(places.on_all(look));
  }
  return Done{};
}

// Removes the objects of the catalogue that are not in `kept`, which is sorted.
Status remove_others(Places& places, const Uuid& uuid, const Catalogue& catalogue,
                     const std::vector<Digest>& kept, Forgotten& forgotten) {
  std::atomic<std::uint64_t> objects = 0;
  std::atomic<std::uint64_t> bytes = 0;
  const auto remove_on = [&](std::size_t index) -> Status {
    for (const Catalogue::Entry& entry : catalogue.entries()) {
      if (entry.place != index || std::binary_search(kept.begin(), kept.end(), entry.segment))
        continue;
      CALPE_CHECK(places[index].place->remove(segment_path(uuid, entry.segment, entry.shard)));
      ++objects;
      bytes += entry.bytes;
    }
    return Done{};
  };
  CALPE_CHECK(places.on_all(remove_on));
  forgotten.objects += objects;
  forgotten.bytes += bytes;
  return Done{};
}

}  // namespace

Status check_segment_stored(const Places& places, const Catalogue& catalogue,
                            const Generation& generation, const Segment& segment) {
  const std::uint64_t bytes = SegmentShape(generation.header, segment.bytes).object_bytes();
  for (std::size_t shard = 0; shard < generation.shard_count(); ++shard) {
    if (has_anywhere(catalogue, segment, shard, bytes)) continue;
    return make_error(ErrorCode::corrupt, "shard ", shard, " of segment ",
                      segment_name(segment.digest, static_cast<ShardIndex>(shard)),
                      " is on none of the ", places.size(), " places, or has a wrong size (",
                      shard < generation.labels.size() ? generation.labels[shard] : "",
                      "); run calpe remote repair");
  }
  return Done{};
}

Status check_stored(const Places& places, const Catalogue& catalogue,
                    const Generation& generation) {
  for (const Segment& segment : all_segments(generation))
    CALPE_CHECK(check_segment_stored(places, catalogue, generation, segment));
  return Done{};
}

Status commit(Places& places, const ChangeLock& lock, const RemoteSet& before,
              const Generation& generation) {
  const Uuid& uuid = generation.header.uuid;
  CALPE_TRY(const Catalogue stored, Catalogue::load(places, uuid, true));
  CALPE_CHECK(check_stored(places, stored, generation));
  CALPE_TRY(const RemoteSet now, lock.list_set());
  if (numbers_of(now) != numbers_of(before)) {
    return make_error(ErrorCode::io, "another command changed set ", uuid_text(uuid),
                      " in the meantime; nothing was changed; run this one again");
  }
  CALPE_TRY(const std::vector<std::byte> bytes, to_bytes(generation));
  const std::string name = generation_name(uuid, generation.header.generation);
  // Always read back: a place that loses this object silently would show the old state later.
  const std::vector<Status> written = places.on_each(
      [&](std::size_t index) { return put_object(*places[index].place, name, bytes, true); });
  for (const Status& status : written) {
    if (status) continue;
    return make_error(ErrorCode::io, status.error().message,
                      "; the new generation was not written to every place: the set is either the "
                      "old or the new one; calpe remote repair completes it");
  }
  // If the lock was taken over by mistake, the other command may have removed objects. A newest
  // generation that cannot be restored would hide the one before.
  CALPE_TRY(const Catalogue after, Catalogue::load(places, uuid, true));
  if (Status stored_now = check_stored(places, after, generation); !stored_now) {
    (void)places.on_each([&](std::size_t index) { return places[index].place->remove(name); });
    return stored_now;
  }
  CALPE_TRY(const RemoteSet committed, lock.list_set());
  if (committed.find(generation.header.generation) == nullptr) {
    return make_error(ErrorCode::io, "another command changed set ", uuid_text(uuid),
                      " in the meantime; run this one again");
  }
  return before.begun.empty() ? Status(Done{}) : remove_begun_mark(places, uuid);
}

Result<std::vector<std::uint64_t>> count_missing_copies(
    Places& places, const RemoteSet& set, const std::vector<Generation>& generations) {
  std::vector<std::atomic<std::uint64_t>> missing(generations.size());
  const auto count = [&](std::size_t i, Place&, const std::string&,
                         std::span<const std::byte>) -> Status {
    ++missing[i];
    return Done{};
  };
  CALPE_CHECK(for_each_missing_copy(places, set, generations, count));
  return std::vector<std::uint64_t>(missing.begin(), missing.end());
}

Result<std::uint64_t> write_missing_copies(Places& places, const RemoteSet& set,
                                           const std::vector<Generation>& generations) {
  std::atomic<std::uint64_t> written = 0;
  const auto write = [&](std::size_t, Place& place, const std::string& name,
                         std::span<const std::byte> bytes) -> Status {
    ++written;
    return put_object(place, name, bytes, true);
  };
  CALPE_CHECK(for_each_missing_copy(places, set, generations, write));
  return written.load();
}

Result<Forgotten> forget_older(Places& places, const ChangeLock& lock, std::size_t keep) {
  CALPE_TRY(const RemoteSet set, lock.list_set());
  const Uuid& uuid = set.uuid;
  Forgotten forgotten;
  if (set.generations.empty()) return forgotten;
  const std::size_t kept_count = std::clamp<std::size_t>(keep, 1, set.generations.size());
  const std::size_t old_count = set.generations.size() - kept_count;
  // Nothing is removed unless all generations that stay are known.
  std::vector<Digest> kept;
  for (std::size_t i = old_count; i < set.generations.size(); ++i) {
    CALPE_TRY(const Generation generation, load_generation(places, set, set.generations[i]));
    kept.insert(kept.end(), generation.data.begin(), generation.data.end());
    kept.insert(kept.end(), generation.manifest.begin(), generation.manifest.end());
  }
  std::sort(kept.begin(), kept.end());
  // First the generations, so that none is listed whose segments are gone.
  for (std::size_t i = 0; i < old_count; ++i) {
    const std::string name = generation_name(uuid, set.generations[i].number);
    CALPE_CHECK(
        places.on_all([&](std::size_t index) { return places[index].place->remove(name); }));
    ++forgotten.generations;
  }
  CALPE_TRY(const Catalogue catalogue, Catalogue::load(places, uuid, true));
  CALPE_TRY(const RemoteSet now, lock.list_set());
  const std::vector<std::uint64_t> all = numbers_of(set);
  if (numbers_of(now) !=
      std::vector(all.begin() + static_cast<std::ptrdiff_t>(old_count), all.end())) {
    return make_error(ErrorCode::io, "another command changed set ", uuid_text(uuid),
                      " in the meantime; no segments were removed; run this one again");
  }
  CALPE_CHECK(remove_others(places, uuid, catalogue, kept, forgotten));
  if (!set.begun.empty()) CALPE_CHECK(remove_begun_mark(places, uuid));
  return forgotten;
}

Result<Forgotten> forget_older(Places& places, const Uuid& uuid, std::size_t keep,
                               const ChangeOptions& change) {
  CALPE_TRY(const ChangeLock lock, ChangeLock::acquire(places, uuid, change));
  return forget_older(places, lock, keep);
}

Result<Forgotten> forget_begun(Places& places, const RemoteSet& set, const ChangeOptions& change) {
  Forgotten forgotten;
  if (!set.generations.empty()) return forgotten;
  CALPE_TRY(const ChangeLock lock, ChangeLock::acquire(places, set.uuid, change));
  CALPE_TRY(const Catalogue catalogue, Catalogue::load(places, set.uuid, true));
  CALPE_TRY(const RemoteSet now, lock.list_set());
  if (!now.generations.empty()) return forgotten;  // another computer completed it
  CALPE_CHECK(remove_others(places, set.uuid, catalogue, {}, forgotten));
  CALPE_CHECK(remove_begun_mark(places, set.uuid));
  return forgotten;
}

}  // namespace calpe::remote
