// SPDX-License-Identifier: Apache-2.0
// Makes a set of shards of a content.
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
  std::vector<std::string> targets;  // folders; shard i goes to targets[i % count]
  std::string name;                  // of the set: "photos"
  std::uint32_t block_bytes = 0;     // 0: chosen
  unsigned jobs = 1;                 // threads that read, code and write
  OnProgress on_progress = {};
  Uuid uuid = {};  // of the set; zeros: a new one
  // Goes on with what a protect of the same content and options has left that was killed.
  bool may_resume = true;
  // How much of the content may have to be done again then, beside a group of 512 stripes.
  std::uint64_t checkpoint_bytes = std::uint64_t{1} << 30U;
  // With others than none every block is also hashed, and headers get roots. hmac: with `key`,
  // key_bytes_min .. key_bytes_max bytes; without it there is none.
  RootKind root_kind = RootKind::none;
  Key key = {};
  std::uint64_t generation = 1;
  std::vector<std::string> paths = {};  // of all files; empty: names in the targets
  // Called once when no other protect of this name can begin in the targets, before the content is
  // read; an error ends protect.
  std::function<Status()> check_begun = {};
};

struct ProtectedSet {
  ShardHeader header;               // of the first
  std::vector<std::string> paths;   // of all shards, by index; of originals the parity files
  std::uint64_t resumed_bytes = 0;  // of the content, which were not read again
};

// Shards are written under temporary names in their targets (".calpe-UUID-s003.part"), synced, and
// renamed when all are complete: before that there is nothing, afterwards everything. Files that
// have these names already are moved aside (".calpe-UUID-s003.old") and removed last: killed at any
// moment, the old set or the new one is complete, found by its headers. Fails as the source, the
// file system and Codec::create() do, and with invalid_argument; then what was written is removed
// and files that had the same names are as before, unless it was their removal that failed: then
// the new set is there. What a killed one leaves is gone on with by the next of the same content,
// and removed by the next of the same name (resumable_protect.hpp). Files that are replaced, and
// those that are written, are locked until the end: fails with io when another command holds one of
// them, or a protect of the same name is at work in one of the targets. Memory: at most 64 MiB of
// stripes, and a few with the usual codes.
Result<ProtectedSet> protect(FileSystem& files, ContentSource& content,
                             const ProtectOptions& options);

// The same for files that stay where they are: only parity files are made, in targets[j % count].
Result<ProtectedSet> protect_originals(FileSystem& files, OriginalSource& originals,
                                       const ProtectOptions& options);

}  // namespace calpe::store
