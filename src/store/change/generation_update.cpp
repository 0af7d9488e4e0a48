// SPDX-License-Identifier: Apache-2.0
#include "store/change/generation_update.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "store/change/checksum_page_update.hpp"
#include "store/change/root_update.hpp"
#include "store/change/undo_writer.hpp"
#include "store/find/held_set.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/find/older_generations.hpp"
#include "store/find/redo_journal.hpp"
#include "store/format/geometry.hpp"
#include "store/io/names.hpp"
#include "store/read/open_set.hpp"
#include "store/read/root_check.hpp"
#include "store/read/set_roots.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t step_max = std::uint64_t{1} << 32U;

Status check_supported(const ShardHeader& before, const ShardHeader& after) {
  if (before.root_kind != RootKind::none && after.spec.parity_shards != before.spec.parity_shards) {
    return invalid("set ", uuid_text(before.uuid),
                   " has a root, so parity cannot be added; protect the data again instead");
  }
  if (before.kind == SetKind::originals && after.stripe_count != before.stripe_count) {
    return invalid("set ", uuid_text(before.uuid), " keeps its originals and has ",
                   before.stripe_count, " stripes, which an update cannot change; got ",
                   after.stripe_count);
  }
  if (before.generation > std::numeric_limits<std::uint64_t>::max() - step_max) {
    return invalid("generation is ", before.generation, "; expected at most 2^64 - 2^32");
  }
  const bool is_kept = after.uuid == before.uuid && after.kind == before.kind &&
                       after.version == before.version && after.root_kind == before.root_kind &&
                       after.block_bytes == before.block_bytes &&
                       after.spec.data_shards == before.spec.data_shards &&
                       after.spec.parity_shards >= before.spec.parity_shards;
  if (!is_kept) {
    return invalid("the new header differs in uuid, kind, block size or k, or has less parity; ",
                   "expected the values of the set");
  }
  return Done{};
}

Status check_whole(const FoundSet& set) {
  const std::uint64_t expected = shard_file_bytes(set.header);
  for (std::size_t index = first_file_shard(set.header); index < set.shards.size(); ++index) {
    const auto& copies = set.shards[index];
    const auto refuse = [&](const auto&... what) {
      return make_error(ErrorCode::corrupt, "shard ", index, what..., "; run calpe repair first");
    };
    if (copies.empty()) return refuse(" is missing");
    if (copies.size() > 1) {
      return invalid("shard ", index, " was found ", copies.size(), " times: ", copies[0].path,
                     " and ", copies[1].path, "; remove one of them");
    }
    const FoundShard& shard = copies.front();
    if (!shard.front_header_good || !shard.back_header_good) {
      return refuse(" has a damaged header: ", shard.path);
    }
    if (shard.file_bytes != expected) {
      return refuse(" has ", shard.file_bytes, " bytes; expected ", expected, ": ", shard.path);
    }
    if (!shard.journal.empty() || is_temporary(shard.path)) {
      return refuse(" was left by an interrupted command: ", shard.path);
    }
  }
  return Done{};
}

// All checksum pages are rewritten, so a sparse file that claims a huge size would really grow to
// it.
Status check_no_holes(FileSystem& files, const FoundSet& set) {
  CALPE_TRY(const OpenSet shards, OpenSet::open(files, set, MovedBytes::ignored));
  for (std::uint64_t stripe = 0; stripe < set.header.stripe_count; stripe += group_stripes) {
    if (!shards.has_holes()) break;
    if (shards.next_stripe(stripe) == stripe) continue;
    return make_error(ErrorCode::corrupt, "stripe ", stripe,
                      " and others have no checksums in any shard; run calpe verify");
  }
  return Done{};
}

// Only the owner of the key may sign the new generation.
Status check_owner(const FoundSet& set, std::span<const std::byte> key) {
  if (set.header.root_kind != RootKind::hmac) {
    return key.empty() ? Status(Done{}) : invalid("a key was given, but the set has no HMAC");
  }
  if (key.empty()) return invalid("the set has an HMAC, so its key is needed to update it");
  return check_demand(set.header, {.key = Key(key)});
}

Status check_claim(const ShardHeader& own, const std::string& path) {
  CALPE_TRY(const bool is_good, is_claim_good(own));
  if (is_good) return Done{};
  return make_error(ErrorCode::corrupt, path, " does not match its root; run calpe repair first");
}

// The older generations of a set before the change.
struct OlderGenerations {
  std::set<std::string> folders;
  std::vector<std::uint64_t> numbers;  // newest first
};

// Removes journals that are no longer needed: those of updates that never happened.
Result<OlderGenerations> remove_given_up(FileSystem& files, const FoundSet& set) {
  const Uuid& uuid = set.header.uuid;
  OlderGenerations older = {.folders = shard_folders(set), .numbers = {}};
  CALPE_CHECK(remove_temporaries(files, uuid, older.folders, redo_ending));
  CALPE_TRY(const Findings findings,
            find_sets(files, {older.folders.begin(), older.folders.end()}));
  // Fails rather than count a generation that could not be read as one that is not there.
  CALPE_TRY(older.numbers, kept_numbers(findings, set.header));
  CALPE_TRY([[maybe_unused]] const std::size_t removed,
            remove_undo_journals(files, uuid, older.folders, [&](const UndoStep& step) {
              return is_undo_needed(findings, step);
            }));
  return older;
}

// State of one shard during the update.
struct Change {
  std::string path;
  std::string journal_path;
  std::string undo_path;  // empty: none yet
  ShardHeader before;
  ShardHeader after;
  std::unique_ptr<File> file;
  std::unique_ptr<RedoWriter> journal;
  std::optional<NewPages> pages;
  std::optional<NewRoot> root;  // if the set has roots
};

}  // namespace

struct NewGeneration::Impl {
  std::unique_ptr<HeldFiles> held;
  FileSystem& files;  // holds the same files
  ShardHeader after;  // of the first shard that has a file
  Key key;
  OlderGenerations older;
  KeptGenerations kept;
  std::vector<std::unique_ptr<Change>> changes = {};
  bool has_manifest = false;  // of kept originals
  bool is_decided = false;    // all journals are durable

  Status begin_shard(const FoundSet& set, std::size_t index) {
    auto change = std::make_unique<Change>();
    change->path = set.shards[index].front().path;
    change->before =
        header_of(set.header, static_cast<ShardIndex>(index), set.shards[index].front());
    change->after = after;
    change->after.shard_index = static_cast<ShardIndex>(index);
    change->journal_path = redo_journal_path(change->path, change->after);
    CALPE_TRY(change->file, files.open(change->path));
    CALPE_TRY(change->journal,
              RedoWriter::create(files, change->path, change->before, change->after));
    change->pages.emplace(change->before, change->after, *change->file, *change->journal);
    if (after.root_kind != RootKind::none) {
      CALPE_CHECK(check_claim(change->before, change->path));
      change->root.emplace(change->before, change->after, *change->file);
    }
    changes.push_back(std::move(change));
    return Done{};
  }

  // A data shard of kept originals has no file, but a checksum page in each parity file.
  Status write_block(ShardIndex shard, std::uint64_t stripe, std::span<const std::byte> block) {
    const std::size_t first = first_file_shard(after);
    if (shard < first) {
      for (const auto& change : changes) {
        CALPE_CHECK(change->pages->add(shard, stripe, block));
      }
      return Done{};
    }
    Change& change = *changes[shard - first];
    CALPE_CHECK(change.pages->add(shard, stripe, block));
    if (change.root) CALPE_CHECK(change.root->add(stripe, block));
    return change.journal->add(geometry_of(change.after).block_offset(stripe), block);
  }

  static Status complete(Change& change) {
    CALPE_CHECK(change.pages->finish());
    const HeaderBytes header = to_bytes(change.after);
    CALPE_CHECK(change.journal->add(0, header));
    return change.journal->add(shard_file_bytes(change.after) - header_bytes, header);
  }

  Status add_roots() {
    std::vector<Digest> digests;
    for (const auto& change : changes) {
      CALPE_TRY(digests.emplace_back(), change->root->finish());
    }
    CALPE_TRY(SetRoots roots, make_set_roots(after, std::move(digests)));
    CALPE_CHECK(add_hmac(roots, after, key));
    for (const auto& change : changes) {
      change->after = header_with_roots(change->after, roots, change->after.shard_index);
    }
    after = changes.front()->after;
    return Done{};
  }

  bool is_undo_wanted() const {
    return kept.count > 0 && (!kept.is_as_before || !older.numbers.empty());
  }

  // Durable before the first redo journal, so that a committed change can be undone.
  Status save_old_bytes(Change& change) const {
    if (!is_undo_wanted()) return Done{};
    CALPE_CHECK(change.journal->seal());
    CALPE_TRY(change.undo_path,
              write_undo_journal(files, *change.file, {change.path, change.before, change.after},
                                 change.journal->writes()));
    return Done{};
  }

  // Not earlier, because a change that fails must not cost an older generation.
  Status forget_older() const {
    std::set<std::uint64_t> wanted;
    if (is_undo_wanted()) {
      wanted.insert(changes.front()->before.generation);
      for (const std::uint64_t number : older.numbers) {
        if (wanted.size() < kept.count) wanted.insert(number);
      }
    }
    CALPE_TRY([[maybe_unused]] const std::size_t removed,
              remove_undo_journals(files, after.uuid, older.folders, [&](const UndoStep& step) {
                return wanted.contains(step.before);
              }));
    return Done{};
  }

  Status commit(const MakeShards& make_shards) {
    if (after.kind == SetKind::originals && !has_manifest) {
      return invalid("the manifest of kept originals was not given; expected it before commit()");
    }
    if (after.root_kind != RootKind::none) CALPE_CHECK(add_roots());
    for (const auto& change : changes) {
      CALPE_CHECK(complete(*change));
      CALPE_CHECK(save_old_bytes(*change));
      change->file.reset();
    }
    // As late as possible, so that only a short time remains with some shards finished.
    for (const auto& change : changes) {
      CALPE_CHECK(change->journal->finish());
    }
    is_decided = true;
    Status outcome = make_shards ? make_shards(after) : Status(Done{});
    // A shard that fails keeps its journal; the others are still updated.
    for (const auto& change : changes) {
      Status redone = redo_shard(files, change->path, change->journal_path);
      if (outcome && !redone) outcome = std::move(redone);
    }
    if (outcome) outcome = forget_older();
    if (outcome) return outcome;
    Error error = std::move(outcome).error();
    error.message += "; the change is committed; run calpe repair to complete it";
    return error;
  }
};

NewGeneration::NewGeneration(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

NewGeneration::~NewGeneration() {
  if (impl_->is_decided) return;
  for (const auto& change : impl_->changes) {
    change->journal.reset();
    static_cast<void>(impl_->files.remove(change->journal_path));  // even if complete
    if (!change->undo_path.empty()) static_cast<void>(impl_->files.remove(change->undo_path));
  }
}

Result<std::unique_ptr<NewGeneration>> NewGeneration::begin(FileSystem& files, const FoundSet& set,
                                                            ShardHeader after,
                                                            std::span<const std::byte> key,
                                                            KeptGenerations kept) {
  return guarded([&]() -> Result<std::unique_ptr<NewGeneration>> {
    after.shard_index = first_file_shard(set.header);
    CALPE_CHECK(check_supported(set.header, after));
    CALPE_CHECK(check_whole(set));
    CALPE_CHECK(check_owner(set, key));
    CALPE_CHECK(check_no_holes(files, set));
    after.generation = next_generation(set.header.generation);
    // Never write a header that a reader would refuse.
    if (const Result<ShardHeader> parsed = parse_header(to_bytes(after)); !parsed) {
      return invalid(parsed.error().message);
    }
    CALPE_TRY(std::unique_ptr<HeldFiles> held, hold_found_set(files, set, LockKind::exclusive));
    HeldFiles& locked = *held;
    CALPE_TRY(OlderGenerations older, remove_given_up(locked, set));
    std::unique_ptr<NewGeneration> begun(
        new NewGeneration(std::make_unique<Impl>(Impl{.held = std::move(held),
                                                      .files = locked,
                                                      .after = std::move(after),
                                                      .key = Key(key),
                                                      .older = std::move(older),
                                                      .kept = kept})));
    for (std::size_t index = first_file_shard(set.header); index < set.shards.size(); ++index) {
      CALPE_CHECK(begun->impl_->begin_shard(set, index));
    }
    return begun;
  });
}

const ShardHeader& NewGeneration::header() const noexcept {
  return impl_->after;
}

Status NewGeneration::write_blocks(ShardIndex shard, std::uint64_t first_stripe,
                                   std::span<const std::byte> blocks) {
  return guarded([&]() -> Status {
    const std::size_t block_bytes = impl_->after.block_bytes;
    const std::size_t shards = first_file_shard(impl_->after) + impl_->changes.size();
    if (shard >= shards || blocks.size() % block_bytes != 0) {
      return invalid("shard is ", shard, " with ", blocks.size(), " bytes; expected one of ",
                     shards, " with blocks of ", block_bytes);
    }
    for (std::size_t j = 0; j < blocks.size() / block_bytes; ++j) {
      CALPE_CHECK(impl_->write_block(shard, first_stripe + j,
                                     blocks.subspan(j * block_bytes, block_bytes)));
    }
    return Done{};
  });
}

Status NewGeneration::write_manifest(std::span<const std::byte> manifest) {
  return guarded([&]() -> Status {
    if (impl_->after.kind != SetKind::originals || manifest.size() != impl_->after.manifest_bytes) {
      return invalid("the manifest has ", manifest.size(), " bytes; expected ",
                     impl_->after.manifest_bytes, " of kept originals");
    }
    for (const auto& change : impl_->changes) {
      for (const ListPart& part : list_parts(impl_->after, manifest))
        CALPE_CHECK(change->journal->add(part.offset, part.bytes));
    }
    impl_->has_manifest = true;
    return Done{};
  });
}

Status NewGeneration::commit(const MakeShards& make_shards) {
  return guarded([&] { return impl_->commit(make_shards); });
}

}  // namespace calpe::store
