// SPDX-License-Identifier: Apache-2.0
#include "remote/set/remote_write.hpp"

#include <algorithm>
#include <cstring>

#include "base/allocation_guard.hpp"
#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/set/manifest_reader.hpp"
#include "remote/set/segment_writer.hpp"
#include "remote/set/source_content.hpp"
#include "store/change/removal_guard.hpp"
#include "store/format/geometry.hpp"
#include "store/tree/placement.hpp"

namespace calpe::remote {

namespace {

std::uint64_t count_files(const store::Manifest& manifest) {
  return static_cast<std::uint64_t>(
      std::count_if(manifest.entries.begin(), manifest.entries.end(),
                    [](const auto& entry) { return entry.type == store::EntryType::file; }));
}

// Uploads the segments of a generation and commits it.
class GenerationWriter {
 public:
  GenerationWriter(Places& places, const RemoteSet& before, const Catalogue& catalogue,
                   const SegmentCoder& coder, const WriteOptions& options)
      : places_(places),
        before_(before),
        coder_(coder),
        options_(options),
        writer_(places, catalogue, coder,
                choose_homes(catalogue,
                             coder.stripes().codec().spec().data_shards +
                                 coder.stripes().codec().spec().parity_shards,
                             places.size()),
                options.reads_back) {}

  // Writes the data segments for which `is_dirty` is set; the others keep their digests.
  Status write(Generation& generation, SourceContent& source, const store::Manifest& manifest,
               const std::vector<bool>& is_dirty) {
    const std::vector<std::byte> manifest_bytes = store::to_bytes(manifest);
    const std::uint64_t size = generation.segment_bytes;
    const std::uint64_t data_bytes = generation.data_bytes();
    all_ = static_cast<std::uint64_t>(std::count(is_dirty.begin(), is_dirty.end(), true)) * size +
           manifest_bytes.size();
    for (std::uint64_t i = 0; i < is_dirty.size(); ++i) {
      if (!is_dirty[i]) continue;
      const std::uint64_t begin = i * size;
      const FillSegment fill = [&](std::span<std::byte> bytes, std::uint64_t offset) {
        return source.read(bytes, begin + offset);
      };
      CALPE_CHECK(write_one(std::min(size, data_bytes - begin), fill, generation.data[i]));
    }
    CALPE_CHECK(source.finish());
    for (std::uint64_t i = 0; i < generation.manifest.size(); ++i) {
      const auto part = std::span(manifest_bytes).subspan(i * size);
      const FillSegment fill = [&](std::span<std::byte> bytes, std::uint64_t offset) -> Status {
        std::memcpy(bytes.data(), part.data() + offset, bytes.size());
        return Done{};
      };
      CALPE_CHECK(
          write_one(std::min<std::uint64_t>(size, part.size()), fill, generation.manifest[i]));
    }
    for (const std::size_t home : writer_.homes())
      generation.labels.push_back(places_.label(home));
    return commit(places_, before_, generation);
  }

  void report(WriteReport& report) const {
    report.homes = writer_.homes();
    report.segments_written = segments_written_;
    report.objects_written = writer_.objects_written();
    report.bytes_written = writer_.bytes_written();
  }

 private:
  Status write_one(std::uint64_t bytes, const FillSegment& fill, Digest& digest) {
    CALPE_CHECK(coder_.encode(bytes, fill, encoded_));
    const std::uint64_t before = writer_.objects_written();
    // Equal content has an equal name: nothing is uploaded twice, also after an interruption.
    CALPE_CHECK(writer_.put_missing(encoded_));
    if (writer_.objects_written() != before) ++segments_written_;
    digest = encoded_.segment.digest;
    done_ += bytes;
    if (options_.on_progress) options_.on_progress(std::min(done_, all_), all_);
    return Done{};
  }

  Places& places_;
  const RemoteSet& before_;
  const SegmentCoder& coder_;
  const WriteOptions& options_;
  SegmentWriter writer_;
  EncodedSegment encoded_;
  std::uint64_t segments_written_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t all_ = 0;
};

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

Status check_segment_count(const Generation& generation) {
  if (generation.data.size() + generation.manifest.size() <= segments_max) return Done{};
  return invalid("the set would have more than ", segments_max,
                 " segments; choose larger ones with --segment");
}

void size_tables(Generation& generation) {
  const store::ShardHeader& header = generation.header;
  generation.data.resize(divide_up(header.manifest_offset, generation.segment_bytes));
  generation.manifest.resize(divide_up(header.manifest_bytes, generation.segment_bytes));
}

Result<WriteReport> protect(Places& places, const std::string& source,
                            const ProtectOptions& options) {
  CALPE_CHECK(places.check_all_up());
  CALPE_TRY(const CodeSpec spec, resolved(options.spec));
  CALPE_TRY(store::ScannedTree tree,
            store::scan_tree(source, {.exclude = options.write.exclude, .skips_unreadable = true}));
  WriteReport report = {
      .files = count_files(tree.manifest), .skipped = tree.skipped, .unreadable = tree.unreadable};
  CALPE_TRY(const NewSet made, new_set(places, options, spec, tree.data_bytes));
  report.is_resumed = made.is_resumed;
  const Uuid uuid = made.header.uuid;
  CALPE_CHECK(mark_begun(places, made));
  CALPE_TRY(const RemoteSet before, list_set_again(places, uuid));
  CALPE_CHECK(places.check_all_up());
  CALPE_TRY(const Catalogue catalogue, Catalogue::load(places, uuid, true));
  Generation& generation = report.generation;
  generation.header = made.header;
  generation.header.generation = store::next_generation(0);
  generation.segment_bytes = made.segment_bytes;
  set_sizes(generation.header, tree.data_bytes, store::to_bytes(tree.manifest).size());
  size_tables(generation);
  CALPE_CHECK(check_segment_count(generation));
  CALPE_TRY(const SegmentCoder coder, SegmentCoder::make(generation.header));
  const store::Manifest manifest = tree.manifest;
  SourceContent content(tree, manifest);
  GenerationWriter writer(places, before, catalogue, coder, options.write);
  CALPE_CHECK(
      writer.write(generation, content, manifest, std::vector<bool>(generation.data.size(), true)));
  writer.report(report);
  return report;
}

void tell(const store::Manifest& before, const store::Manifest& after,
          const store::TreeDifference& difference, WriteReport& report) {
  for (std::size_t i = 0; i < difference.entries.size(); ++i) {
    const std::string& path = after.entries[i].path;
    if (difference.entries[i].change == store::EntryChange::added) report.added.push_back(path);
    if (difference.entries[i].change == store::EntryChange::changed) report.changed.push_back(path);
  }
  for (const std::size_t i : difference.removed)
    report.removed.push_back(before.entries[i].path);
}

// Segments with new bytes, and a last one that became longer or shorter.
std::vector<bool> dirty_segments(const Generation& before, const Generation& after,
                                 const store::Placement& placement) {
  const std::uint64_t size = after.segment_bytes;
  std::vector<bool> dirty(after.data.size());
  for (const store::PlacedPiece& piece : placement.pieces) {
    const std::uint64_t end = piece.content_offset + piece.bytes;
    for (std::uint64_t i = piece.content_offset / size; i * size < end; ++i)
      dirty[i] = true;
  }
  const auto bytes_in = [&](const Generation& generation, std::uint64_t i) {
    return std::min(size, generation.data_bytes() - std::min(generation.data_bytes(), i * size));
  };
  for (std::uint64_t i = 0; i < dirty.size(); ++i) {
    if (bytes_in(before, i) != bytes_in(after, i)) dirty[i] = true;
  }
  return dirty;
}

Result<WriteReport> update(Places& places, const RemoteSet& set, const std::string& source,
                           const UpdateOptions& options) {
  if (!options.dry_run) CALPE_CHECK(places.check_all_up());
  CALPE_TRY(const Generation before, load_generation(places, set, set.generations.back()));
  CALPE_TRY(const Catalogue catalogue, Catalogue::load(places, set.uuid, !options.dry_run));
  CALPE_TRY(const SegmentCoder coder, SegmentCoder::make(before.header));
  SegmentReader reader(places, catalogue, coder);
  CALPE_TRY(const store::Manifest old, read_manifest(reader, before));
  // Fails for an unreadable file: leaving it out would remove it from the set.
  CALPE_TRY(store::ScannedTree tree, store::scan_tree(source, {.exclude = options.write.exclude}));
  if (store::is_single_file(old) != store::is_single_file(tree.manifest)) {
    return invalid(store::shown_path(source), " is a ",
                   store::is_single_file(old) ? "directory" : "file",
                   ", unlike what the set protects; give the source that was protected");
  }
  WriteReport report = {
      .generation = before, .files = count_files(tree.manifest), .skipped = tree.skipped};
  CALPE_TRY(const store::TreeDifference difference, store::compare_trees(old, tree.manifest));
  tell(old, tree.manifest, difference, report);
  if (!options.dry_run) {
    CALPE_CHECK(store::check_removal(store::removal_of(old, tree.manifest, difference), source,
                                     options.removed_percent_max));
    CALPE_CHECK(check_stored(places, catalogue, before));
    CALPE_TRY([[maybe_unused]] const std::uint64_t copied,
              write_missing_copies(places, set, {before}));
  }
  report.is_changed = !difference.is_none();
  if (!report.is_changed || options.dry_run) return report;
  CALPE_TRY(const store::Placement placement, store::place_files(old, tree.manifest, difference));
  Generation& after = report.generation;
  after.parent = before.header.generation;
  after.header.generation = store::next_generation(after.parent);
  after.labels.clear();
  set_sizes(after.header, placement.data_bytes, store::to_bytes(placement.manifest).size());
  size_tables(after);
  CALPE_CHECK(check_segment_count(after));
  SourceContent content(tree, placement.manifest);
  GenerationWriter writer(places, set, catalogue, coder, options.write);
  CALPE_CHECK(
      writer.write(after, content, placement.manifest, dirty_segments(before, after, placement)));
  writer.report(report);
  CALPE_TRY(report.forgotten, forget_older(places, set.uuid, options.keep));
  return report;
}

}  // namespace

Result<WriteReport> protect_on_places(Places& places, const std::string& source,
                                      const ProtectOptions& options) {
  return guarded([&] { return protect(places, source, options); });
}

Result<WriteReport> update_on_places(Places& places, const RemoteSet& set,
                                     const std::string& source, const UpdateOptions& options) {
  return guarded([&] { return update(places, set, source, options); });
}

}  // namespace calpe::remote
