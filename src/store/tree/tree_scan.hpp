// SPDX-License-Identifier: Apache-2.0
// Lists a file, or a directory with everything in it, for a content.
#pragma once
#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "store/format/manifest.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

// Identifies a file, as a replaced file may have the same name, size and time.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  std::int64_t change_seconds = 0;
  std::int64_t change_nanoseconds = 0;
};

struct ScanOptions {
  // Files and directories to leave out, with everything below: a path or the end of one, with the
  // wildcards *, ? and [...], which also match a slash.
  std::vector<std::string> exclude = {};
  // Lists entries that cannot be read in ScannedTree::unreadable instead of failing.
  bool skips_unreadable = false;
  // Fills ScannedTree::hard_links and ::attributes.
  bool looks_for_metadata = false;
};

// A file that is not part of the content.
struct UnreadableFile {
  std::string path;  // in the manifest
  std::string why;
  bool operator==(const UnreadableFile&) const = default;
};

// Files with metadata that the format has no field for.
struct NamedFiles {
  std::uint64_t count = 0;
  std::vector<std::string> first = {};  // at most 5
  void add(const std::string& path);
};

// Tells why an entry of ScannedTree::skipped is not part of the content: it is a socket, device or
// pipe, or an unfinished file of a restore.
std::string skipped_text(const std::string& path);

struct ScannedTree {
  FolderWalk walk;       // from the directory
  Descriptor file = {};  // used instead for a single file
  Manifest manifest = {};
  std::vector<FileIdentity> identities = {};  // by manifest entry
  std::vector<std::string> skipped = {};      // see skipped_text()
  std::vector<UnreadableFile> unreadable = {};
  std::vector<std::string> unused_exclude = {};  // patterns that match nothing
  std::uint64_t excluded = 0;                    // files, and directories with all below
  NamedFiles hard_links = {};
  NamedFiles attributes = {};  // with extended attributes or ACLs
  std::uint64_t data_bytes = 0;
  // For several sources: each is walked from the directory it is in. Ascending by name.
  struct Source {
    std::string name;
    FolderWalk walk;
  };
  std::vector<Source> sources = {};

  FolderWalk& walk_of(std::string_view path);
};

// Sorts names bytewise, with directories before their contents, so that the same tree gives the
// same manifest. Fails with io.
Result<ScannedTree> scan_tree(const std::string& path, const ScanOptions& options = {});

// Lists several files and directories as the entries of one directory. Links are stored, not
// followed. Fails with io, and with invalid_argument if two have the same name.
Result<ScannedTree> scan_trees(const std::vector<std::string>& paths,
                               const ScanOptions& options = {});

// Reads the metadata and extents of a file again, after it changed. The extents are at
// `content_offset`. Fails with io.
Status scan_again(ScannedTree& tree, std::size_t entry, std::uint64_t content_offset);

}  // namespace calpe::store
