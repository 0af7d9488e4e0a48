// SPDX-License-Identifier: Apache-2.0
#include "remote/set/remote_write.hpp"

#include <algorithm>

#include "base/allocation_guard.hpp"
#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/set/generation_writer.hpp"
#include "store/format/geometry.hpp"

namespace calpe::remote {

namespace {

// Resolves the code: all fields set, as headers store it.
Result<CodeSpec> resolved(const CodeSpec& spec) {
  CALPE_TRY(const Codec codec, Codec::create(spec));
  return codec.spec();
}

// Describes a begun set: a generation without data, and with one byte of manifest.
Generation begun_generation(store::ShardHeader header, std::uint64_t segment_bytes) {
  header.generation = 1;
  set_sizes(header, 0, 1);
  Generation begun = {.header = std::move(header), .segment_bytes = segment_bytes};
  begun.manifest.resize(1);
  begun.labels.resize(begun.shard_count());
  return begun;
}

Result<Generation> load_begun(Places& places, const RemoteSet& set) {
  Error why = make_error(ErrorCode::corrupt, "no mark");
  for (const std::size_t place : set.begun) {
    for (const ListedObject& object : places[place].top) {
      if (object.name != begun_name(set.uuid) || object.bytes > generation_object_bytes_max)
        continue;
      std::vector<std::byte> bytes(object.bytes);
      if (!places[place].place->read(object.name, bytes, 0)) continue;
      Result<Generation> begun = parse_generation(bytes);
      if (begun && begun->header.uuid == set.uuid) return begun;
    }
  }
  return why;
}

// What every new set and every resumed one needs.
struct NewSet {
  store::ShardHeader header = {};
  std::uint64_t segment_bytes = 0;
  bool is_resumed = false;
};

Result<NewSet> new_set(Places& places, const ProtectOptions& options, const CodeSpec& spec,
                       std::uint64_t data_bytes) {
  for (const RemoteSet& set : sets_on(places)) {
    if (!set.generations.empty()) {
      CALPE_TRY(const Generation newest, load_generation(places, set, set.generations.back()));
      if (newest.header.name != options.name) continue;
      return invalid("the places have a set of the name ", options.name, " (", uuid_text(set.uuid),
                     "); bring it up to date with calpe remote update, or choose another name with "
                     "--name");
    }
    if (!options.may_resume) continue;
    const Result<Generation> begun = load_begun(places, set);
    if (!begun || begun->header.name != options.name || begun->header.spec != spec) continue;
    if (options.block_bytes != 0 && options.block_bytes != begun->header.block_bytes) continue;
    const std::uint64_t stripe_bytes =
        std::uint64_t{begun->header.block_bytes} * begun->header.spec.data_shards;
    if (options.segment_bytes != 0 &&
        round_up(options.segment_bytes, stripe_bytes) != begun->segment_bytes)
      continue;
    return NewSet{begun->header, begun->segment_bytes, true};
  }
  NewSet made;
  made.header.uuid = random_uuid();
  made.header.spec = spec;
  made.header.name = options.name;
  made.header.block_bytes = options.block_bytes != 0
                                ? options.block_bytes
                                : store::choose_block_bytes(data_bytes, spec.data_shards);
  made.segment_bytes = choose_segment_bytes(made.header, data_bytes);
  if (options.segment_bytes != 0) {
    made.segment_bytes =
        round_up(options.segment_bytes, std::uint64_t{made.header.block_bytes} * spec.data_shards);
  }
  return made;
}

// Two places may be the same under two spellings. The mark of a new set is in no place yet, so one
// that has it before its turn is a place that had its turn.
Status mark_one_by_one(Places& places, const std::string& name, std::span<const std::byte> bytes) {
  for (std::size_t index = 0; index < places.size(); ++index) {
    CALPE_TRY(const std::vector<ListedObject> top, places[index].place->list(""));
    const bool has_mark = std::any_of(
        top.begin(), top.end(), [&](const ListedObject& object) { return object.name == name; });
    if (has_mark) {
      CALPE_CHECK(places[index].place->remove(name));
      for (std::size_t marked = 0; marked < index; ++marked)
        CALPE_CHECK(places[marked].place->remove(name));
      return invalid(places.label(index),
                     ": the same place as one of the others; expected different places");
    }
    CALPE_CHECK(places[index].place->put(name, bytes));
  }
  return Done{};
}

Status mark_begun(Places& places, const NewSet& made) {
  CALPE_TRY(const std::vector<std::byte> bytes,
            to_bytes(begun_generation(made.header, made.segment_bytes)));
  if (!made.is_resumed) return mark_one_by_one(places, begun_name(made.header.uuid), bytes);
  return places.on_all([&](std::size_t index) {
    return places[index].place->put(begun_name(made.header.uuid), bytes);
  });
}

// The number of places with which any one may be lost.
std::size_t places_for_one_loss(const SegmentCoder& coder, std::size_t shards, std::size_t places) {
  Homes homes(shards);
  for (std::size_t count = places + 1; count < shards; ++count) {
    for (std::size_t shard = 0; shard < shards; ++shard)
      homes[shard] = shard % count;
    if (places_may_fail(coder, homes, count) != 0) return count;
  }
  return shards;
}

Result<WriteReport> protect(Places& places, const std::string& source,
                            const ProtectOptions& options) {
  CALPE_CHECK(places.check_all_up());
  CALPE_TRY(const CodeSpec spec, resolved(options.spec));
  CALPE_TRY(store::ScannedTree tree,
            store::scan_tree(source, {.exclude = options.write.exclude, .skips_unreadable = true}));
  WriteReport report;
  report.files = count_files(tree.manifest);
  report.skipped = tree.skipped;
  report.unreadable = tree.unreadable;
  CALPE_TRY(const NewSet made, new_set(places, options, spec, tree.data_bytes));
  report.is_resumed = made.is_resumed;
  const Uuid uuid = made.header.uuid;
  if (!made.is_resumed) CALPE_CHECK(mark_begun(places, made));
  CALPE_TRY(const ChangeLock lock, ChangeLock::acquire(places, uuid, options.write.change));
  if (made.is_resumed) CALPE_CHECK(mark_begun(places, made));
  CALPE_TRY(const RemoteSet before, lock.list_set());
  if (!before.generations.empty()) {
    return make_error(ErrorCode::io, "another command completed set ", uuid_text(uuid),
                      " in the meantime; bring it up to date with calpe remote update");
  }
  CALPE_TRY(const Catalogue catalogue, Catalogue::load(places, uuid, true));
  Generation& generation = report.generation;
  generation.header = made.header;
  generation.header.generation = store::next_generation(0);
  generation.segment_bytes = made.segment_bytes;
  set_sizes(generation.header, tree.data_bytes, store::to_bytes(tree.manifest).size());
  CALPE_CHECK(size_tables(generation));
  CALPE_TRY(const SegmentCoder coder, SegmentCoder::make(generation.header));
  const store::Manifest manifest = tree.manifest;
  SourceContent content(tree, manifest);
  const Homes homes = choose_homes(catalogue, generation.shard_count(), places.size());
  report.places_may_fail = places_may_fail(coder, homes, places.size());
  if (report.places_may_fail == 0)
    report.places_needed = places_for_one_loss(coder, homes.size(), places.size());
  generation.places_may_fail = static_cast<std::uint16_t>(report.places_may_fail);
  GenerationWriter writer(places, catalogue, coder, homes, options.write);
  const std::vector<bool> all(generation.data.size(), true);
  CALPE_CHECK(writer.write(generation, content, manifest, all));
  CALPE_CHECK(commit(places, lock, before, generation));
  writer.add_to(report);
  return report;
}

}  // namespace

Result<WriteReport> protect_on_places(Places& places, const std::string& source,
                                      const ProtectOptions& options) {
  return guarded([&] { return protect(places, source, options); });
}

}  // namespace calpe::remote
