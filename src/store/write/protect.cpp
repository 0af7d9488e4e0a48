// SPDX-License-Identifier: Apache-2.0
#include "store/write/protect.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <random>
#include <system_error>
#include <thread>

#include <calpe/codec.hpp>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "store/format/geometry.hpp"
#include "store/io/held_files.hpp"
#include "store/io/names.hpp"
#include "store/read/set_roots.hpp"
#include "store/tree/in_place_source.hpp"
#include "store/tree/prefix_source.hpp"
#include "store/write/checkpoint.hpp"
#include "store/write/resumable_protect.hpp"
#include "store/write/set_writer.hpp"
#include "store/write/shard_files.hpp"

namespace calpe::store {

namespace {

// Maximum file name length on common file systems.
constexpr std::size_t file_name_bytes_max = 255;
constexpr std::chrono::seconds checkpoint_time(10);

Status check_options(const ProtectOptions& options) {
  if (options.targets.empty() && options.paths.empty())
    return invalid("targets is empty; expected at least one directory");
  for (const std::string& target : options.targets) {
    if (target.empty()) return invalid("a target is empty; expected a directory");
  }
  if (options.name.empty()) return invalid("name is empty; expected the name of the set");
  if (Status status = check_set_name(options.name); !status) {
    return invalid(status.error().message);
  }
  const std::size_t ending = shard_file_name("", 0).size();
  if (options.name.size() > file_name_bytes_max - ending) {
    return invalid("name has ", options.name.size(), " bytes; expected at most ",
                   file_name_bytes_max - ending);
  }
  if (options.spec.layout != Layout::bytes) {
    return invalid("layout is packets; expected bytes for shard files");
  }
  // The header has no room for more: it could be written, but never read again.
  const std::size_t shards = std::size_t{options.spec.data_shards} + options.spec.parity_shards;
  if (shards > byte_shard_count_max) {
    return invalid("data_shards + parity_shards is ", shards, "; expected at most ",
                   byte_shard_count_max, " for shard files");
  }
  if (options.spec.word_bits != 8) {
    return invalid("word_bits is ", options.spec.word_bits, "; expected 8 for shard files");
  }
  if (options.root_kind == RootKind::hmac) return check_key_bytes(options.key);
  if (!options.key.empty()) return invalid("a key is given but no HMAC is requested");
  return Done{};
}

Result<std::uint32_t> block_bytes_of(const ProtectOptions& options, const CodeSpec& spec,
                                     const ContentSource& content) {
  std::uint32_t bytes = options.block_bytes;
  if (bytes == 0) {
    bytes = choose_block_bytes(content.bytes_expected().value_or(0), spec.data_shards);
  }
  if (bytes < block_bytes_min || bytes > block_bytes_max || bytes % block_bytes_min != 0) {
    return invalid("block_bytes is ", bytes, "; expected a multiple of ", block_bytes_min, " from ",
                   block_bytes_min, " to ", block_bytes_max);
  }
  const std::uint64_t shards = std::uint64_t{spec.data_shards} + spec.parity_shards;
  if (shards * bytes > stripe_bytes_max) {
    return invalid("block_bytes is ", bytes, "; expected at most ", stripe_bytes_max / shards,
                   " with ", shards, " shards");
  }
  return bytes;
}

Result<ShardHeader> finish_header(ShardHeader header, const ContentSource& content,
                                  std::uint64_t content_bytes) {
  const std::uint64_t stripe_bytes = std::uint64_t{header.spec.data_shards} * header.block_bytes;
  header.stripe_count = content_bytes / stripe_bytes + (content_bytes % stripe_bytes != 0 ? 1 : 0);
  header.content_bytes = content_bytes;
  header.manifest_offset = content.manifest_offset();
  header.manifest_bytes = content.manifest_bytes();
  if (header.kind == SetKind::originals) header.manifest_offset = geometry_of(header).body_end();
  // Never write a header that could not be read back.
  return parse_header(to_bytes(header));
}

// For kept originals this includes the shards without files.
Result<SetRoots> roots_of(const SetWriter& writer, const ShardHeader& header,
                          std::span<const std::byte> key) {
  Sha256 hash;
  std::vector<Digest> digests(std::size_t{header.spec.data_shards} + header.spec.parity_shards);
  for (std::size_t shard = 0; shard < digests.size(); ++shard) {
    CALPE_TRY(digests[shard], shard_digest(hash, header, static_cast<ShardIndex>(shard),
                                           writer.group_digests(shard)));
  }
  CALPE_TRY(SetRoots roots, make_set_roots(header, std::move(digests)));
  CALPE_CHECK(add_hmac(roots, header, key));
  return roots;
}

Status write_headers(const ShardFiles& shards, ShardHeader header,
                     const std::optional<SetRoots>& roots) {
  const ShardIndex first = header.shard_index;
  for (std::size_t shard = 0; shard < shards.count(); ++shard) {
    header.shard_index = static_cast<ShardIndex>(first + shard);
    const HeaderBytes bytes =
        to_bytes(roots ? header_with_roots(header, *roots, header.shard_index) : header);
    CALPE_CHECK(shards.file(shard).write_at(bytes, shard_file_bytes(header) - header_bytes));
    CALPE_CHECK(shards.file(shard).write_at(bytes, 0));
  }
  return Done{};
}

// Sets with roots cannot be resumed, as the digests of the written part are gone. Neither can
// parity of kept originals, as everything read before would have to be compared again.
Checkpoint checkpoint_of(const ShardHeader& header, const ContentSource& content,
                         const ProtectOptions& options) {
  const bool starts_over = header.root_kind != RootKind::none || header.kind == SetKind::originals;
  return {.uuid = options.uuid,
          .shard_count =
              static_cast<std::uint16_t>(header.spec.data_shards + header.spec.parity_shards),
          .block_bytes = header.block_bytes,
          .what = starts_over ? Digest{} : digest_of(header, content),
          .name = header.name};
}

Result<ShardFiles> open_parts(FileSystem& files, const std::vector<std::string>& paths,
                              BegunSet& begun, ShardHeader& header) {
  if (begun.at.groups == 0)
    return ShardFiles::create(files, paths, header.uuid, header.shard_index);
  header.uuid = begun.at.uuid;
  return ShardFiles::go_on(files, paths, header.uuid, header.shard_index, std::move(begun.parts));
}

struct BegunFiles {
  BegunSet begun;
  ShardFiles shards;
};

// Creates part files that are locked and contain the set name.
Result<BegunFiles> try_begin_files(FileSystem& files, const std::vector<std::string>& paths,
                                   const Checkpoint& wanted, const ProtectOptions& options,
                                   ShardHeader& header) {
  CALPE_TRY(BegunSet begun, take_begun_set(files, paths, wanted, options.may_resume));
  CALPE_TRY(ShardFiles shards, open_parts(files, paths, begun, header));
  begun.at.uuid = header.uuid;
  CALPE_CHECK(Checkpoints(shards, begun.at, 0, {}, 1).write());
  CALPE_CHECK(check_alone(files, paths, header.uuid, header.name));
  return BegunFiles{std::move(begun), std::move(shards)};
}

// Two commands that start at the same moment may both give way, so retry until one wins.
Result<BegunFiles> begin_files(FileSystem& files, const std::vector<std::string>& paths,
                               const Checkpoint& wanted, const ProtectOptions& options,
                               ShardHeader& header) {
  constexpr int attempts = 8;
  std::minstd_rand random{std::random_device{}()};
  const ShardHeader given = header;
  for (int attempt = 1;; ++attempt) {
    header = given;
    Result<BegunFiles> begun = try_begin_files(files, paths, wanted, options, header);
    if (begun || attempt == attempts) return begun;
    if (!is_locked_error(begun.error())) return begun;
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + random() % 16));
  }
}

// The error has the text of the system, and nothing else that tells.
bool is_full_error(const Error& error) {
  const auto has = [&](int number) {
    return error.message.find(std::generic_category().message(number)) != std::string::npos;
  };
  return has(ENOSPC) || has(EDQUOT);
}

// Before reading: a command that changes the replaced set holds locks on its files.
Status hold_replaced(HeldFiles& files, const std::vector<std::string>& paths,
                     const BegunSet& begun) {
  std::vector<std::string> replaced = begun.superseded;
  for (const std::string& path : paths) {
    CALPE_TRY(const bool is_taken, is_name_taken(files, path));
    if (is_taken) replaced.push_back(path);
  }
  for (const std::string& path : replaced) {
    CALPE_TRY(const bool is_held, files.hold(path));
    if (!is_held) return locked_error(LockKind::exclusive);
  }
  return Done{};
}

// Do not replace a file that another command has created since.
Status check_names(HeldFiles& files, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    CALPE_TRY(const bool is_taken, is_name_taken(files, path));
    if (is_taken && !files.is_held(path)) return locked_error(LockKind::exclusive);
  }
  return Done{};
}

std::vector<std::string> paths_of(const ProtectOptions& options, const ShardHeader& header) {
  if (!options.paths.empty()) return options.paths;
  std::vector<std::string> paths;
  const std::size_t end = std::size_t{header.spec.data_shards} + header.spec.parity_shards;
  for (std::size_t shard = header.shard_index; shard < end; ++shard) {
    const std::string& target = options.targets[paths.size() % options.targets.size()];
    paths.push_back(
        in_folder(target, shard_file_name(options.name, static_cast<ShardIndex>(shard))));
  }
  return paths;
}

// A set in creation. Its steps are in the order in which protect and protect_originals call them.
class SetInProgress {
 public:
  SetInProgress(FileSystem& files, ContentSource& source, const Codec& codec,
                const ProtectOptions& options)
      : files_(files),
        codec_(codec),
        options_(options),
        content_(source),
        held_(files, LockKind::exclusive) {
    header_.uuid = options.uuid == Uuid{} ? random_uuid() : options.uuid;
    header_.spec = codec.spec();
    header_.name = options.name;
    header_.root_kind = options.root_kind;
    header_.generation = options.generation;
  }

  // Creates only parity files.
  void keep_originals() {
    header_.kind = SetKind::originals;
    header_.version = header_version_digests;
    header_.shard_index = static_cast<ShardIndex>(codec_.spec().data_shards);
  }

  Result<std::uint32_t> choose_blocks() {
    if (options_.block_bytes == 0 && !content_.bytes_expected()) {
      const std::size_t bytes = choose_block_bytes(0, 1);
      CALPE_CHECK(content_.peek(std::size_t{codec_.spec().data_shards} * bytes));
    }
    CALPE_TRY(header_.block_bytes, block_bytes_of(options_, codec_.spec(), content_));
    return header_.block_bytes;
  }

  // Creates the temporary files and locks those they replace.
  Status begin() {
    set_.paths = paths_of(options_, header_);
    CALPE_CHECK(make_folders_of(files_, set_.paths));
    const Checkpoint wanted = checkpoint_of(header_, content_, options_);
    CALPE_TRY(BegunFiles begun, begin_files(held_, set_.paths, wanted, options_, header_));
    begun_.emplace(std::move(begun));
    CALPE_CHECK(hold_replaced(held_, set_.paths, begun_->begun));
    if (options_.check_begun) CALPE_CHECK(options_.check_begun());
    begun_->shards.own_parts();
    return Done{};
  }

  // Writes all blocks and checksums, starting where an interrupted protect stopped. Returns the
  // size of the content.
  Result<std::uint64_t> write_stripes() {
    const Checkpoint& at = begun_->begun.at;
    const BlockName name = {.uuid = header_.uuid, .generation = header_.generation};
    writer_.emplace(content_, codec_, begun_->shards, name, header_.block_bytes,
                    SetForm{.kind = header_.kind, .with_roots = has_roots()});
    const std::uint64_t group_bytes =
        std::uint64_t{header_.spec.data_shards} * header_.block_bytes * group_stripes;
    Checkpoints checkpoints(begun_->shards, at, group_bytes,
                            {options_.checkpoint_bytes, checkpoint_time}, options_.jobs);
    set_.resumed_bytes = at.groups * group_bytes;
    if (set_.resumed_bytes > 0) CALPE_CHECK(content_.skip(set_.resumed_bytes));
    writer_->begin_at(at.groups);
    writer_->tell_of_groups([&](std::uint64_t groups) -> Status {
      if (!content_.is_as_identified()) return Done{};
      return checkpoints.reached(groups);
    });
    Result<std::uint64_t> written = writer_->write(options_.jobs, options_.on_progress);
    if (written || !is_full_error(written.error()) || !checkpoints.is_any_reached()) return written;
    begun_->shards.leave_parts();
    return make_error(written.error().code, written.error().message,
                      "; the parts written so far were kept, and the next run resumes");
  }

  Status finish(std::uint64_t content_bytes) {
    CALPE_TRY(set_.header, finish_header(header_, content_, content_bytes));
    return Done{};
  }

  Status write_manifest(std::span<const std::byte> manifest) {
    for (std::size_t shard = 0; shard < begun_->shards.count(); ++shard) {
      for (const ListPart& part : list_parts(set_.header, manifest))
        CALPE_CHECK(begun_->shards.file(shard).write_at(part.bytes, part.offset));
    }
    return Done{};
  }

  // Writes headers last: a file without them is not a shard.
  Result<ProtectedSet> publish() {
    std::optional<SetRoots> roots;
    if (has_roots()) {
      CALPE_TRY(roots, roots_of(*writer_, set_.header, options_.key));
      set_.header = header_with_roots(set_.header, *roots, set_.header.shard_index);
    }
    ShardFiles& shards = begun_->shards;
    CALPE_CHECK(write_headers(shards, set_.header, roots));
    CALPE_CHECK(shards.sync(options_.jobs));
    CALPE_CHECK(check_names(held_, set_.paths));
    CALPE_CHECK(shards.publish());
    for (const std::string& path : begun_->begun.superseded) {
      static_cast<void>(held_.remove(path));  // a leftover is harmless
    }
    return std::move(set_);
  }

 private:
  bool has_roots() const noexcept { return options_.root_kind != RootKind::none; }

  FileSystem& files_;
  const Codec& codec_;
  const ProtectOptions& options_;
  PeekedSource content_;
  HeldFiles held_;
  ShardHeader header_;
  ProtectedSet set_;
  std::optional<BegunFiles> begun_;
  std::optional<SetWriter> writer_;
};

}  // namespace

Result<ProtectedSet> protect(FileSystem& files, ContentSource& content,
                             const ProtectOptions& options) {
  CALPE_CHECK(check_options(options));
  CALPE_TRY(const Codec codec, Codec::create(options.spec));
  SetInProgress set(files, content, codec, options);
  CALPE_CHECK(set.choose_blocks());
  CALPE_CHECK(set.begin());
  CALPE_TRY(const std::uint64_t bytes, set.write_stripes());
  CALPE_CHECK(set.finish(bytes));
  return set.publish();
}

Result<ProtectedSet> protect_originals(FileSystem& files, OriginalSource& originals,
                                       const ProtectOptions& options) {
  CALPE_CHECK(check_options(options));
  if (options.root_kind != RootKind::none) {
    return invalid("--root cannot be combined with --keep-original");
  }
  CALPE_TRY(const Codec codec, Codec::create(options.spec));
  SetInProgress set(files, originals, codec, options);
  set.keep_originals();
  CALPE_TRY(const std::uint32_t block_bytes, set.choose_blocks());
  originals.begin(codec.spec().data_shards, block_bytes);
  CALPE_CHECK(set.begin());
  originals.collect_digests();
  CALPE_CHECK(set.write_stripes());
  CALPE_CHECK(originals.finish_digests());
  CALPE_CHECK(set.finish(originals.data_bytes()));
  CALPE_CHECK(set.write_manifest(to_bytes(originals.manifest())));
  return set.publish();
}

}  // namespace calpe::store
