// SPDX-License-Identifier: Apache-2.0
// Creates a set of shards from a content.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "store/format/key.hpp"
#include "store/format/shard_header.hpp"
#include "store/io/file_system.hpp"
#include "store/tree/content.hpp"

namespace calpe::store {

class OriginalSource;

struct ProtectOptions {
  CodeSpec spec;                     // layout bytes
  std::vector<std::string> targets;  // directories; shard i goes to targets[i % count]
  std::string name;                  // name of the set: "photos"
  std::uint32_t block_bytes = 0;     // 0: choose automatically
  unsigned jobs = 1;                 // threads that read, code and write
  OnProgress on_progress = {};
  Uuid uuid = {};  // uuid of the set; zeros: create a new one
  // Resume an interrupted protect of the same content and options.
  bool may_resume = true;
  // Content that may have to be processed again after an interruption, besides a group of 512
  // stripes.
  std::uint64_t checkpoint_bytes = std::uint64_t{1} << 30U;
  // Unless none, every block is hashed and the headers store roots. hmac requires `key` with
  // key_bytes_min .. key_bytes_max bytes; otherwise leave it empty.
  RootKind root_kind = RootKind::none;
  Key key = {};
  std::uint64_t generation = 1;
  std::vector<std::string> paths = {};  // paths of all files; empty: default names in the targets
  // Called once before the content is read, when no other protect of this name can start in the
  // targets. An error ends protect.
  std::function<Status()> check_begun = {};
};

struct ProtectedSet {
  ShardHeader header;               // header of the first shard
  std::vector<std::string> paths;   // all shards by index; for kept originals the parity files
  std::uint64_t resumed_bytes = 0;  // content bytes that were not read again
};

// Shards are written under temporary names in their targets (".calpe-UUID-s003.part"), synced, and
// renamed when all are complete. Existing files with these names are moved aside
// (".calpe-UUID-s003.old") and removed last. After an interruption at any point, the old or the new
// set is complete and can be found by its headers.
//
// Fails as the source, the file system and Codec::create() do, and with invalid_argument. On
// failure, the new files are removed and replaced files are restored, unless removing the old files
// failed: then the new set exists. If a target is full after a checkpoint, the new files are kept
// for the next run. The next protect of the same content resumes an interrupted one,
// and the next one of the same name removes its leftovers (resumable_protect.hpp).
//
// Replaced and new files are locked until the end. Fails with io when another command holds one of
// them, or when a protect of the same name is running in one of the targets. Memory: at most 64 MiB
// of stripes; a few MiB with the usual codes.
Result<ProtectedSet> protect(FileSystem& files, ContentSource& content,
                             const ProtectOptions& options);

// The same for files that stay where they are: creates only parity files, in targets[j % count].
Result<ProtectedSet> protect_originals(FileSystem& files, OriginalSource& originals,
                                       const ProtectOptions& options);

}  // namespace calpe::store
