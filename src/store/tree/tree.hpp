// SPDX-License-Identifier: Apache-2.0
// Files and folders as a content, and back.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "store/format/manifest.hpp"
#include "store/tree/content.hpp"

namespace calpe::store {

// A file, or a folder with all that is in it: names, modes, owners, times, symbolic links (kept,
// not followed, but for the path itself), holes, empty files and folders. Sockets, devices and
// pipes are left out and named in `skipped`, relative to the folder. The manifest is known at once
// and is that of docs/format.md: the folder itself is the first entry. The data are read when asked
// for, one file open at a time. Fails with io.
class TreeSource : public ContentSource {
 public:
  static Result<std::unique_ptr<TreeSource>> open(const std::string& path);
  virtual const Manifest& manifest() const = 0;
  virtual const std::vector<std::string>& skipped() const = 0;
};

// Standard input, or any descriptor: read to its end. The manifest has one entry, a stream.
std::unique_ptr<ContentSource> make_stream_source(int descriptor);

// Content bytes [offset, + bytes.size()).
using ReadContent = std::function<Status(std::span<std::byte> bytes, std::uint64_t offset)>;

struct RestoreOptions {
  bool overwrite = false;  // else a file that exists is an error
  bool owners = false;     // also restore user and group ids
  // Goes on with a restore to the same place that was killed: files and links that are there with
  // the same size and time stay, and what it left under temporary names is removed.
  bool resume = false;
  std::function<void(const Entry& entry)> on_there = {};  // told of each that stays
  std::function<void(std::uint64_t done, std::uint64_t all)> on_progress = {};
  // Of a tree: told of each file whose bytes cannot be had (unrecoverable, corrupt), which is left
  // out; the others are restored. Without it the first such file ends the restore.
  std::function<void(const Entry& entry, const Error& error)> on_lost = {};
};

// Restores everything below `folder`, which is made. Each file is written under a temporary name,
// synced and renamed. Nothing outside `folder` is touched, whatever links are in it or come with
// the manifest: paths are walked with openat and O_NOFOLLOW. A manifest of a single file or stream
// may be restored to one path with restore_file. Fails with io and as `read` does.
Status restore_tree(const Manifest& manifest, const ReadContent& read, const std::string& folder,
                    const RestoreOptions& options);
Status restore_file(const Entry& entry, const ReadContent& read, const std::string& path,
                    const RestoreOptions& options);
// To a descriptor that cannot seek, holes as zeros.
Status restore_stream(const Entry& entry, const ReadContent& read, int descriptor);

}  // namespace calpe::store
