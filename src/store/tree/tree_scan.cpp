// SPDX-License-Identifier: Apache-2.0
#include "store/tree/tree_scan.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t stat_block_bytes = 512;  // unit of st_blocks on every system

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

Result<std::vector<std::string>> sorted_names(int folder, const std::string& shown) {
  // Needs its own descriptor: fdopendir takes ownership, and a dup would share the position.
  Descriptor own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own) return system_error("open directory", shown);
  const std::unique_ptr<DIR, CloseFolder> list(::fdopendir(own.get()));
  if (!list) return system_error("list", shown);
  own.release();
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* found = ::readdir(list.get());
    if (found == nullptr) break;
    std::string name = found->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  if (errno != 0) return system_error("list", shown);
  std::sort(names.begin(), names.end());  // char_traits compares as unsigned bytes
  return names;
}

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

class Scan {
 public:
  explicit Scan(ScannedTree& tree) : tree_(tree) {}

  Status folder() {
    struct stat about = {};
    if (::fstat(tree_.walk.top(), &about) != 0) {
      return system_error("access", tree_.walk.full_name(""));
    }
    add(entry_of(EntryType::folder, "", about), about);
    CALPE_CHECK(list(""));
    while (!pending_.empty()) {
      std::string path = std::move(pending_.back());
      pending_.pop_back();
      CALPE_CHECK(any(std::move(path)));
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

 private:
  void add(Entry entry, const struct stat& about) {
    for (Extent& extent : entry.extents) {
      extent.content_offset = tree_.data_bytes;
      tree_.data_bytes += extent.bytes;
    }
    tree_.manifest.entries.push_back(std::move(entry));
    tree_.identities.push_back({.device = about.st_dev,
                                .number = about.st_ino,
                                .change_seconds = about.st_ctim.tv_sec,
                                .change_nanoseconds = about.st_ctim.tv_nsec});
  }

  Status list(const std::string& path) {
    CALPE_TRY(const int folder, tree_.walk.folder(path));
    CALPE_TRY(auto names, sorted_names(folder, tree_.walk.full_name(path)));
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      pending_.push_back(path.empty() ? std::move(*name) : text(path, "/", *name));
    }
    return Done{};
  }

  Status any(std::string path) {
    const SplitPath parts = split_path(path);
    const std::string name(parts.name);
    CALPE_TRY(const int folder, tree_.walk.folder(parts.folder));
    struct stat about = {};
    if (::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
      return system_error("access", tree_.walk.full_name(path));
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
    const std::string shown = tree_.walk.full_name(path);
    const Descriptor opened(
        ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!opened) return system_error("open", shown);
    return file(std::move(path), opened.get(), about, shown);
  }

  Status link_in(int folder, const std::string& name, std::string path, const struct stat& about) {
    std::string target(static_cast<std::size_t>(about.st_size) + 1, '\0');
    while (true) {
      const ssize_t got = ::readlinkat(folder, name.c_str(), target.data(), target.size());
      if (got < 0) return system_error("read link", tree_.walk.full_name(path));
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
  std::vector<std::string> pending_;  // in reverse order
};

}  // namespace

Result<ScannedTree> scan_tree(const std::string& path) {
  // The path itself is trusted: links are followed. O_NONBLOCK: a pipe would wait for a writer.
  Descriptor opened(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!opened) return system_error("open", path);
  struct stat about = {};
  if (::fstat(opened.get(), &about) != 0) return system_error("access", path);
  if (S_ISDIR(about.st_mode)) {
    ScannedTree tree = {.walk = FolderWalk(std::move(opened), path)};
    CALPE_CHECK(Scan(tree).folder());
    return tree;
  }
  if (!S_ISREG(about.st_mode)) {
    return make_error(ErrorCode::io, shown_path(path), " is neither a file nor a directory");
  }
  ScannedTree tree = {.walk = FolderWalk(Descriptor(), path), .file = std::move(opened)};
  CALPE_CHECK(Scan(tree).file(std::string(split_path(path).name), tree.file.get(), about, path));
  return tree;
}

}  // namespace calpe::store
