// SPDX-License-Identifier: Apache-2.0
#include "store/tree/tree_scan.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fnmatch.h>
#include <memory>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/io/names.hpp"
#include "store/tree/folder_files.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t stat_block_bytes = 512;  // unit of st_blocks on every system

Entry entry_of(EntryType type, std::string path, const struct stat& about) {
  Entry entry;
  entry.type = type;
  entry.path = std::move(path);
  entry.mode = about.st_mode & 07777U;
  entry.user = about.st_uid;
  entry.group = about.st_gid;
  entry.seconds = about.st_mtim.tv_sec;
  entry.nanoseconds = static_cast<std::uint32_t>(about.st_mtim.tv_nsec);
  return entry;
}

FileIdentity identity_of(const struct stat& about) {
  return {.device = about.st_dev,
          .number = about.st_ino,
          .change_seconds = about.st_ctim.tv_sec,
          .change_nanoseconds = about.st_ctim.tv_nsec};
}

// The caller sets content offsets later.
Result<std::vector<Extent>> data_extents(int file, std::uint64_t bytes, const std::string& shown) {
  std::vector<Extent> extents;
  std::uint64_t at = 0;
  while (at < bytes) {
    const off_t data = ::lseek(file, static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // only a hole up to the end
    // No support for holes.
    if (data < 0 && errno == EINVAL) return std::vector<Extent>{{0, 0, bytes}};
    if (data < 0) return system_error("look for holes in", shown);
    const off_t hole = ::lseek(file, data, SEEK_HOLE);
    if (hole < 0 && errno == ENXIO) break;  // truncated meanwhile, which the read detects
    if (hole < 0) return system_error("look for holes in", shown);
    const std::uint64_t begin = static_cast<std::uint64_t>(data);
    const std::uint64_t end = std::min(static_cast<std::uint64_t>(hole), bytes);
    if (begin < end) extents.push_back({begin, 0, end - begin});
    at = static_cast<std::uint64_t>(hole);
  }
  return extents;
}

// True if the pattern matches the path, or its end after a slash.
bool is_excluded_by(const std::string& pattern, std::string_view path) {
  for (std::string rest(path);;) {
    if (rest == pattern || ::fnmatch(pattern.c_str(), rest.c_str(), 0) == 0) return true;
    const std::size_t slash = rest.find('/');
    if (slash == std::string::npos) return false;
    rest.erase(0, slash + 1);
  }
}

// SELinux labels every file by its own rules.
bool has_attributes(int folder, const std::string& name) {
  const std::string path = text("/proc/self/fd/", folder, "/", name);
  const ssize_t bytes = ::llistxattr(path.c_str(), nullptr, 0);
  if (bytes <= 0) return false;
  std::string list(static_cast<std::size_t>(bytes), '\0');
  const ssize_t got = ::llistxattr(path.c_str(), list.data(), list.size());
  if (got < 0) return true;  // one was added in between
  list.resize(static_cast<std::size_t>(got));
  for (std::size_t begin = 0; begin < list.size();) {
    const std::string one = list.substr(begin).c_str();
    if (one != "security.selinux") return true;
    begin += one.size() + 1;
  }
  return false;
}

class Scan {
 public:
  Scan(ScannedTree& tree, const ScanOptions& options)
      : tree_(tree), options_(options), is_used_(options.exclude.size()) {}

  Status folder() {
    struct stat about = {};
    if (::fstat(tree_.walk.top(), &about) != 0) {
      return system_error("access", tree_.walk.full_name(""));
    }
    add(entry_of(EntryType::folder, "", about), about);
    CALPE_CHECK(list(""));
    return all_pending();
  }

  // The directory itself belongs to the caller and is as new as the newest source.
  Status sources() {
    Entry top = {.type = EntryType::folder, .path = {}, .target = {}, .mode = 0755};
    top.user = ::geteuid();
    top.group = ::getegid();
    tree_.manifest.entries.push_back(top);
    tree_.identities.push_back({});
    for (auto source = tree_.sources.rbegin(); source != tree_.sources.rend(); ++source)
      pending_.push_back(source->name);
    CALPE_CHECK(all_pending());
    std::vector<Entry>& entries = tree_.manifest.entries;
    for (const Entry& entry : entries) {
      if (entry.path.find('/') != std::string::npos) continue;
      entries.front().seconds = std::max(entries.front().seconds, entry.seconds);
    }
    return Done{};
  }

  Status file(std::string name, int descriptor, const struct stat& about,
              const std::string& shown) {
    Entry entry = entry_of(EntryType::file, std::move(name), about);
    entry.file_bytes = static_cast<std::uint64_t>(about.st_size);
    CALPE_TRY(entry.extents, data_extents(descriptor, entry.file_bytes, shown));
    add(std::move(entry), about);
    return Done{};
  }

  void finish() {
    for (std::size_t i = 0; i < is_used_.size(); ++i) {
      if (!is_used_[i]) tree_.unused_exclude.push_back(options_.exclude[i]);
    }
  }

 private:
  Status all_pending() {
    while (!pending_.empty()) {
      std::string path = std::move(pending_.back());
      pending_.pop_back();
      if (is_excluded(path)) {
        ++tree_.excluded;
        continue;
      }
      if (Status status = any(path); !status) {
        if (!options_.skips_unreadable) return status;
        tree_.unreadable.push_back({std::move(path), status.error().message});
      }
    }
    return Done{};
  }

  bool is_excluded(const std::string& path) {
    bool is_any = false;
    for (std::size_t i = 0; i < is_used_.size(); ++i) {
      if (!is_excluded_by(options_.exclude[i], path)) continue;
      is_used_[i] = true;
      is_any = true;
    }
    return is_any;
  }

  void add(Entry entry, const struct stat& about) {
    for (Extent& extent : entry.extents) {
      extent.content_offset = tree_.data_bytes;
      tree_.data_bytes += extent.bytes;
    }
    tree_.manifest.entries.push_back(std::move(entry));
    tree_.identities.push_back(identity_of(about));
  }

  Status list(const std::string& path) {
    FolderWalk& walk = tree_.walk_of(path);
    CALPE_TRY(const int folder, walk.folder(path));
    CALPE_TRY(auto names, sorted_names(folder, walk.full_name(path)));
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      pending_.push_back(path.empty() ? std::move(*name) : text(path, "/", *name));
    }
    return Done{};
  }

  Status any(std::string path) {
    const SplitPath parts = split_path(path);
    const std::string name(parts.name);
    if (name.starts_with(restore_prefix)) {
      tree_.skipped.push_back(std::move(path));
      return Done{};
    }
    FolderWalk& walk = tree_.walk_of(path);
    CALPE_TRY(const int folder, walk.folder(parts.folder));
    struct stat about = {};
    if (::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
      return system_error("access", walk.full_name(path));
    }
    if (options_.looks_for_metadata) {
      if (S_ISREG(about.st_mode) && about.st_nlink > 1) tree_.hard_links.add(path);
      if (has_attributes(folder, name)) tree_.attributes.add(path);
    }
    switch (about.st_mode & static_cast<mode_t>(S_IFMT)) {
      case S_IFDIR:
        add(entry_of(EntryType::folder, path, about), about);
        return list(path);
      case S_IFREG:
        return file_in(folder, name, std::move(path), about);
      case S_IFLNK:
        return link_in(folder, name, std::move(path), about);
      default:
        tree_.skipped.push_back(std::move(path));
        return Done{};
    }
  }

  Status file_in(int folder, const std::string& name, std::string path, const struct stat& about) {
    const auto bytes = static_cast<std::uint64_t>(about.st_size);
    if (static_cast<std::uint64_t>(about.st_blocks) * stat_block_bytes >= bytes) {
      // Most files have no holes and need not be opened twice.
      Entry entry = entry_of(EntryType::file, std::move(path), about);
      entry.file_bytes = bytes;
      if (bytes != 0) entry.extents = {{0, 0, bytes}};
      add(std::move(entry), about);
      return Done{};
    }
    const std::string shown = tree_.walk_of(path).full_name(path);
    const Descriptor opened(
        ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!opened) return system_error("open", shown);
    return file(std::move(path), opened.get(), about, shown);
  }

  Status link_in(int folder, const std::string& name, std::string path, const struct stat& about) {
    std::string target(static_cast<std::size_t>(about.st_size) + 1, '\0');
    while (true) {
      const ssize_t got = ::readlinkat(folder, name.c_str(), target.data(), target.size());
      if (got < 0) return system_error("read link", tree_.walk_of(path).full_name(path));
      if (static_cast<std::size_t>(got) < target.size()) {
        target.resize(static_cast<std::size_t>(got));
        break;
      }
      target.resize(target.size() * 2);  // some file systems report 0, or the link changed
    }
    Entry entry = entry_of(EntryType::link, std::move(path), about);
    entry.target = std::move(target);
    add(std::move(entry), about);
    return Done{};
  }

  ScannedTree& tree_;
  const ScanOptions& options_;
  std::vector<bool> is_used_;         // by pattern
  std::vector<std::string> pending_;  // in reverse order
};

// Directory and last name of a path that may end in "/", "." or "..".
Result<std::pair<std::string, std::string>> split_source(const std::string& given) {
  namespace fs = std::filesystem;
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  fs::path whole(path);
  if (const fs::path last = whole.filename(); last.empty() || last == "." || last == "..") {
    std::error_code error;
    whole = fs::canonical(path, error);
    if (error)
      return make_error(ErrorCode::io, "cannot open ", shown_path(given), ": ", error.message());
  }
  if (whole.filename().empty())
    return invalid(shown_path(given), " has no name to be stored under");
  const std::string folder = whole.parent_path().string();
  return std::pair(folder.empty() ? std::string(".") : folder, whole.filename().string());
}

}  // namespace

std::string skipped_text(const std::string& path) {
  const bool is_unfinished = split_path(path).name.starts_with(restore_prefix);
  return text(path, is_unfinished ? " was left by an interrupted restore or repair; skipped"
                                  : " is not a file, directory or symbolic link; skipped");
}

void NamedFiles::add(const std::string& path) {
  constexpr std::size_t first_max = 5;
  ++count;
  if (first.size() < first_max) first.push_back(path);
}

FolderWalk& ScannedTree::walk_of(std::string_view path) {
  if (sources.empty()) return walk;
  const std::string_view name = path.substr(0, path.find('/'));
  const auto found = std::lower_bound(
      sources.begin(), sources.end(), name,
      [](const Source& source, std::string_view value) { return source.name < value; });
  return found == sources.end() ? walk : found->walk;
}

Status scan_again(ScannedTree& tree, std::size_t entry, std::uint64_t content_offset) {
  const std::string path = tree.manifest.entries[entry].path;
  const SplitPath parts = split_path(path);
  const std::string name(parts.name);
  FolderWalk& walk = tree.walk_of(path);
  const std::string shown = walk.full_name(path);
  CALPE_TRY(const int folder, walk.folder(parts.folder));
  const Descriptor opened(
      ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened) return system_error("open", shown);
  struct stat about = {};
  if (::fstat(opened.get(), &about) != 0) return system_error("access", shown);
  if (!S_ISREG(about.st_mode))
    return make_error(ErrorCode::io, shown_path(shown), " is no longer a file");
  Entry now = entry_of(EntryType::file, path, about);
  now.file_bytes = static_cast<std::uint64_t>(about.st_size);
  CALPE_TRY(now.extents, data_extents(opened.get(), now.file_bytes, shown));
  for (Extent& extent : now.extents) {
    extent.content_offset = content_offset;
    content_offset += extent.bytes;
  }
  tree.manifest.entries[entry] = std::move(now);
  tree.identities[entry] = identity_of(about);
  return Done{};
}

Result<ScannedTree> scan_trees(const std::vector<std::string>& paths, const ScanOptions& options) {
  ScannedTree tree = {.walk = FolderWalk(Descriptor(), "")};
  for (const std::string& path : paths) {
    CALPE_TRY(auto parts, split_source(path));
    CALPE_TRY(Descriptor folder, open_folder(parts.first));
    tree.sources.push_back({parts.second, FolderWalk(std::move(folder), parts.first)});
  }
  std::sort(tree.sources.begin(), tree.sources.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(tree.sources.begin(), tree.sources.end(),
                         [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != tree.sources.end())
    return invalid("two sources are named ", shown_path(twice->name), "; rename one");
  // A source that does not exist is a mistake of the caller, not a file that changes.
  for (ScannedTree::Source& source : tree.sources) {
    struct stat about = {};
    if (::fstatat(source.walk.top(), source.name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0)
      return system_error("open", source.walk.full_name(source.name));
  }
  Scan scan(tree, options);
  CALPE_CHECK(scan.sources());
  scan.finish();
  return tree;
}

Result<ScannedTree> scan_tree(const std::string& path, const ScanOptions& options) {
  // The path itself is trusted: links are followed. O_NONBLOCK: a pipe would wait for a writer.
  Descriptor opened(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!opened) return system_error("open", path);
  struct stat about = {};
  if (::fstat(opened.get(), &about) != 0) return system_error("access", path);
  if (S_ISDIR(about.st_mode)) {
    ScannedTree tree = {.walk = FolderWalk(std::move(opened), path)};
    Scan scan(tree, options);
    CALPE_CHECK(scan.folder());
    scan.finish();
    return tree;
  }
  if (!S_ISREG(about.st_mode)) {
    return make_error(ErrorCode::io, shown_path(path), " is neither a file nor a directory");
  }
  ScannedTree tree = {.walk = FolderWalk(Descriptor(), path), .file = std::move(opened)};
  CALPE_CHECK(
      Scan(tree, options).file(std::string(split_path(path).name), tree.file.get(), about, path));
  return tree;
}

}  // namespace calpe::store
