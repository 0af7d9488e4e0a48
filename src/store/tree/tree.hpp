// SPDX-License-Identifier: Apache-2.0
// Reads files and directories as a content, and restores them from one.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/progress.hpp"
#include "store/format/manifest.hpp"
#include "store/tree/content.hpp"
#include "store/tree/tree_scan.hpp"

namespace calpe::store {

// A file, or a directory with everything in it: names, modes, owners, times, symbolic links, holes,
// empty files and directories. Links are stored, not followed, except for the given path itself.
// Sockets, devices and pipes are omitted and listed in `skipped`, relative to the directory. The
// manifest is available at once and follows docs/format.md: its first entry is the directory
// itself. File data is read on demand, one open file at a time. Fails with io.
//
// With options.skips_unreadable, a file in a directory that changes while it is read, or that
// cannot be read, is read again after all others. If that fails too, the file is left out of the
// manifest and listed in tree().unreadable. Its bytes in the content belong to no file.
class TreeSource : public ContentSource {
 public:
  static Result<std::unique_ptr<TreeSource>> open(const std::string& path,
                                                  const ScanOptions& options = {});
  // Several files and directories as the entries of one directory.
  static Result<std::unique_ptr<TreeSource>> open_all(const std::vector<std::string>& paths,
                                                      const ScanOptions& options = {});
  // Final after the end was read.
  virtual const Manifest& manifest() const = 0;
  virtual const ScannedTree& tree() const = 0;
  virtual const std::vector<std::string>& skipped() const = 0;
};

// Reads standard input, or any descriptor, to its end. The manifest has one entry, a stream.
std::unique_ptr<ContentSource> make_stream_source(int descriptor);

// Reads content bytes [offset, offset + bytes.size()).
using ReadContent = std::function<Status(std::span<std::byte> bytes, std::uint64_t offset)>;

struct RestoreOptions {
  bool overwrite = false;  // otherwise an existing file is an error
  bool owners = false;     // also restore user and group ids
  // All files get their names at the end, not in batches: an existing file that is replaced may
  // have bytes that others need.
  bool names_together = false;
  // Resumes an interrupted restore to the same path. Existing files and links of the same size and
  // time are kept, files with zeros in place of lost bytes are replaced, and leftover
  // temporary files are removed.
  bool resume = false;
  // With resume: also compares the bytes of such files with the content. A file with other bytes is
  // an error, or is replaced with `overwrite`.
  bool compares_kept = false;
  std::function<void(const Entry& entry)> on_there = {};  // called for each entry that is kept
  OnProgress on_progress = {};
  // For trees: called for each file whose data is unrecoverable or corrupt. That file is omitted
  // and the others are restored. If not set, the first such file ends the restore.
  std::function<void(const Entry& entry, const Error& error)> on_lost = {};
  // Asked for each file after its data was read: true if zeros are in place of lost bytes. Such a
  // file does not get the time of the entry, or --resume and update would take it for complete.
  std::function<bool(const Entry& entry)> is_filled = {};
};

// Restores everything below `folder`, which is created. Each file is written under a temporary
// name, synced and renamed. Nothing outside `folder` is touched, whatever links it or the manifest
// contains: paths are walked with openat and O_NOFOLLOW. A manifest of a single file or stream may
// be restored to one path with restore_file. Fails with io and as `read` does.
Status restore_tree(const Manifest& manifest, const ReadContent& read, const std::string& folder,
                    const RestoreOptions& options);
Status restore_file(const Entry& entry, const ReadContent& read, const std::string& path,
                    const RestoreOptions& options);
// Writes to a descriptor that cannot seek. Holes become zeros.
Status restore_stream(const Entry& entry, const ReadContent& read, int descriptor);

}  // namespace calpe::store
