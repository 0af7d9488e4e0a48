// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/format/segment_object.hpp"
#include "remote/set/generation_writer.hpp"
#include "remote/set/manifest_reader.hpp"
#include "remote/set/remote_write.hpp"
#include "store/change/removal_guard.hpp"
#include "store/format/geometry.hpp"
#include "store/tree/placement.hpp"

namespace calpe::remote {

namespace {

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

// True if too few shards have the right size. They may still be wrong.
bool is_lost(const SegmentCoder& coder, const Catalogue& catalogue, const Segment& segment) {
  const std::uint64_t bytes = SegmentShape(coder.set(), segment.bytes).object_bytes();
  std::vector<std::uint8_t> good(std::size_t{coder.set().spec.data_shards} +
                                 coder.set().spec.parity_shards);
  for (const Catalogue::Entry& entry : catalogue.of(segment.digest)) {
    if (entry.shard < good.size() && entry.bytes == bytes) good[entry.shard] = 1;
  }
  return !coder.stripes().can_rebuild(good);
}

struct LostSegments {
  std::vector<bool> data = {};
  bool is_manifest = false;
  std::set<Digest> digests = {};
  bool is_any() const { return !digests.empty(); }
};

LostSegments lost_segments(const SegmentCoder& coder, const Catalogue& catalogue,
                           const Generation& generation) {
  LostSegments lost;
  const std::vector<Segment> segments = all_segments(generation);
  lost.data.resize(generation.data.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (!is_lost(coder, catalogue, segments[i])) continue;
    lost.digests.insert(segments[i].digest);
    if (i < lost.data.size()) {
      lost.data[i] = true;
    } else {
      lost.is_manifest = true;
    }
  }
  return lost;
}

// The update of one set, in the order of its steps.
class Update {
 public:
  Update(Places& places, const std::string& source, const UpdateOptions& options)
      : places_(places), source_(source), options_(options) {}

  // Without a lock, lists the changes only.
  Result<WriteReport> run(const RemoteSet& set, const ChangeLock* lock) {
    CALPE_TRY(const Generation before, load_generation(places_, set, set.generations.back()));
    CALPE_TRY(Catalogue catalogue, Catalogue::load(places_, set.uuid, lock != nullptr));
    CALPE_TRY(const SegmentCoder coder, SegmentCoder::make(before.header));
    if (options_.verifies) CALPE_CHECK(drop_wrong_objects(before, coder, catalogue));
    const LostSegments lost = lost_segments(coder, catalogue, before);
    if (lock != nullptr) CALPE_CHECK(check_complete(before, catalogue, lost));
    CALPE_TRY(const auto old, old_manifest(before, coder, catalogue, lost));
    // Fails for an unreadable file: leaving it out would remove it from the set.
    CALPE_TRY(store::ScannedTree tree,
              store::scan_tree(source_, {.exclude = options_.write.exclude}));
    WriteReport report = {
        .generation = before, .files = count_files(tree.manifest), .skipped = tree.skipped};
    store::Placement placement = {.manifest = tree.manifest, .data_bytes = tree.data_bytes};
    if (old) {
      CALPE_TRY(placement, place(*old, tree.manifest, lock != nullptr, report));
    }
    report.is_changed = report.is_changed || !old;
    if (lock == nullptr) return report;
    CALPE_TRY([[maybe_unused]] const std::uint64_t copied,
              write_missing_copies(places_, set, {before}));
    if (!report.is_changed && !lost.is_any()) return report;

    Generation& after = report.generation;
    CALPE_CHECK(describe(before, placement, coder, catalogue, after));
    std::vector<bool> dirty(after.data.size(), true);
    if (old) dirty = dirty_segments(before, after, placement);
    for (std::size_t i = 0; old && i < std::min(dirty.size(), lost.data.size()); ++i)
      dirty[i] = dirty[i] || lost.data[i];
    SourceContent content(tree, placement.manifest);
    GenerationWriter writer(places_, catalogue, coder, homes_, options_.write);
    CALPE_CHECK(writer.write(after, content, placement.manifest, dirty));
    writer.add_to(report);
    const std::set<Digest> stored(writer.stored().begin(), writer.stored().end());
    for (const Digest& digest : lost.digests)
      ++(stored.contains(digest) ? report.segments_healed : report.segments_lost);
    CALPE_CHECK(finish(set, *lock, before, report));
    if (lost.is_any()) CALPE_CHECK(find_lost_generations(*lock, coder, report));
    return report;
  }

 private:
  // Reads all objects, and removes wrong ones from the catalogue.
  Status drop_wrong_objects(const Generation& before, const SegmentCoder& coder,
                            Catalogue& catalogue) {
    SegmentReader reader(places_, catalogue, coder);
    std::uint64_t done = 0;
    for (const Segment& segment : all_segments(before)) {
      std::vector<BadObject> bad;
      (void)reader.check(segment, bad);
      // Several wrong objects may still have k good blocks in each stripe.
      const SegmentShape shape(before.header, segment.bytes);
      std::vector<std::byte> content(shape.stripe_count * shape.stripe_bytes());
      std::vector<BadObject> ignored;
      const bool is_readable =
          bad.empty() || reader.read(segment, {0, shape.stripe_count}, content, ignored);
      for (const BadObject& object : bad) {
        if (object.place >= places_.size()) continue;  // missing
        if (!object.is_wrong) return make_error(ErrorCode::io, object.why);
        if (is_readable)
          return make_error(ErrorCode::corrupt, object.why, "; run calpe remote repair first");
        catalogue.drop(segment.digest, object.shard, object.place);
      }
      done += segment.bytes;
      if (options_.write.on_progress) options_.write.on_progress(done, before.header.content_bytes);
    }
    return Done{};
  }

  // Segments that are not lost must be complete: repair can rebuild them, and update cannot.
  Status check_complete(const Generation& before, const Catalogue& catalogue,
                        const LostSegments& lost) const {
    for (const Segment& segment : all_segments(before)) {
      if (!lost.digests.contains(segment.digest))
        CALPE_CHECK(check_segment_stored(places_, catalogue, before, segment));
    }
    return Done{};
  }

  // The list of files, or nullopt if it is lost and may be replaced.
  Result<std::optional<store::Manifest>> old_manifest(const Generation& before,
                                                      const SegmentCoder& coder,
                                                      const Catalogue& catalogue,
                                                      const LostSegments& lost) {
    if (lost.is_manifest && options_.removed_percent_max < 100) {
      return make_error(ErrorCode::unrecoverable,
                        "the list of files of the set is lost, so what an update would remove is "
                        "not known; to write all files of ",
                        store::shown_path(source_), " again, add --allow-removing 100");
    }
    if (lost.is_manifest) return std::optional<store::Manifest>();
    SegmentReader reader(places_, catalogue, coder);
    Result<store::Manifest> manifest = read_manifest(reader, before);
    if (manifest) return std::optional(*std::move(manifest));
    if (manifest.error().code != ErrorCode::unrecoverable) return std::move(manifest).error();
    return make_error(ErrorCode::unrecoverable, manifest.error().message,
                      "; calpe remote update --verify uploads what is lost again");
  }

  Result<store::Placement> place(const store::Manifest& old, const store::Manifest& now,
                                 bool is_written, WriteReport& report) const {
    if (store::is_single_file(old) != store::is_single_file(now)) {
      return invalid(store::shown_path(source_), " is a ",
                     store::is_single_file(old) ? "directory" : "file",
                     ", unlike what the set protects; give the source that was protected");
    }
    CALPE_TRY(const store::TreeDifference difference, store::compare_trees(old, now));
    tell(old, now, difference, report);
    if (is_written) {
      CALPE_CHECK(store::check_removal(store::removal_of(old, now, difference), source_,
                                       options_.removed_percent_max));
    }
    report.is_changed = !difference.is_none();
    return store::place_files(old, now, difference);
  }

  Status describe(const Generation& before, const store::Placement& placement,
                  const SegmentCoder& coder, const Catalogue& catalogue, Generation& after) {
    after.parent = before.header.generation;
    after.header.generation = store::next_generation(after.parent);
    after.labels.clear();
    homes_ = choose_homes(catalogue, before.shard_count(), places_.size());
    // What was promised stays promised, also after a repair with too few places.
    after.places_may_fail = static_cast<std::uint16_t>(
        std::max(promised_losses(coder, before), places_may_fail(coder, homes_, places_.size())));
    set_sizes(after.header, placement.data_bytes, store::to_bytes(placement.manifest).size());
    return size_tables(after);
  }

  // Makes the new generation count, unless only lost segments were uploaded again.
  Status finish(const RemoteSet& set, const ChangeLock& lock, const Generation& before,
                WriteReport& report) {
    const Generation& after = report.generation;
    report.is_changed = after.data != before.data || after.manifest != before.manifest;
    if (!report.is_changed) {
      report.generation = before;
      CALPE_TRY(const Catalogue stored, Catalogue::load(places_, set.uuid, true));
      return check_stored(places_, stored, before);
    }
    CALPE_CHECK(commit(places_, lock, set, after));
    CALPE_TRY(report.forgotten, forget_older(places_, lock, options_.keep));
    return Done{};
  }

  Status find_lost_generations(const ChangeLock& lock, const SegmentCoder& coder,
                               WriteReport& report) {
    CALPE_TRY(const RemoteSet set, lock.list_set());
    CALPE_TRY(const Catalogue stored, Catalogue::load(places_, set.uuid, true));
    for (const GenerationCopies& copies : set.generations) {
      const Result<Generation> generation = load_generation(places_, set, copies);
      if (!generation || lost_segments(coder, stored, *generation).is_any())
        report.generations_lost.push_back(copies.number);
    }
    return Done{};
  }

  Places& places_;
  const std::string& source_;
  const UpdateOptions& options_;
  Homes homes_;
};

Result<WriteReport> update(Places& places, const RemoteSet& set, const std::string& source,
                           const UpdateOptions& options) {
  Update update(places, source, options);
  if (options.dry_run) return update.run(set, nullptr);
  CALPE_TRY(const ChangeLock lock, ChangeLock::acquire(places, set.uuid, options.write.change));
  CALPE_TRY(const RemoteSet now, lock.list_set());
  if (now.generations.empty())
    return make_error(ErrorCode::io, "another command changed the set; run this one again");
  return update.run(now, &lock);
}

}  // namespace

Result<WriteReport> update_on_places(Places& places, const RemoteSet& set,
                                     const std::string& source, const UpdateOptions& options) {
  return guarded([&] { return update(places, set, source, options); });
}

}  // namespace calpe::remote
