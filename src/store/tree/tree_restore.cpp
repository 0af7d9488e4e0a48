// SPDX-License-Identifier: Apache-2.0
// Restores files from a manifest and its content. Directories come first, accessible only to us,
// then files. Links follow, so that none exists while paths are walked. Modes and times of
// directories are set last, as adding entries changes the time.
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/tree/kept_file.hpp"
#include "store/tree/tree.hpp"
#include "store/tree/tree_content.hpp"
#include "store/tree/tree_output.hpp"
#include "store/tree/tree_walk.hpp"

namespace calpe::store {

namespace {

class TreeRestore {
 public:
  TreeRestore(const Manifest& manifest, FolderWalk walk, bool is_new, const RestoreOptions& options)
      : entries_(manifest.entries),
        walk_(std::move(walk)),
        is_new_(is_new),
        options_(options),
        output_(walk_, options, false),
        is_ours_(manifest.entries.size(), false),
        is_compared_(manifest.entries.size(), false) {}

  Status run(const ReadContent& read) {
    ContentPieces content(read, data_ranges(entries_), options_);
    if (!is_new_ && !options_.overwrite) CALPE_CHECK(check_nothing_there(content));
    CALPE_CHECK(make_folders());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].type == EntryType::file) CALPE_CHECK(restore(i, content));
    }
    CALPE_CHECK(output_.give_names());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].type != EntryType::link) continue;
      CALPE_TRY(const bool stays, is_kept(i, content));
      if (!stays) CALPE_CHECK(output_.link(entries_[i], entries_[i].path));
    }
    CALPE_CHECK(output_.give_names());
    CALPE_CHECK(finish_folders());
    CALPE_CHECK(output_.sync_folder(walk_.top(), ""));
    CALPE_CHECK(output_.sync_all());
    if (options_.on_progress) options_.on_progress(content.all_bytes(), content.all_bytes());
    return Done{};
  }

 private:
  Status restore(std::size_t i, ContentPieces& content) {
    const Entry& entry = entries_[i];
    const Result<bool> stays = is_kept(i, content);
    if (stays && *stays) return Done{};
    Status done = stays ? output_.file(entry, entry.path, content) : Status(stays.error());
    if (done) return done;
    if (!is_lost(done.error()) || !options_.on_lost) return done;
    output_.discard(entry.path);
    options_.on_lost(entry, done.error());
    return Done{};
  }

  static bool is_lost(const Error& error) {
    return error.code == ErrorCode::unrecoverable || error.code == ErrorCode::corrupt;
  }

  // True for an entry that an interrupted restore completed: a file under its final name is
  // complete.
  Result<bool> is_kept(std::size_t i, ContentPieces& content) {
    if (!options_.resume) return false;
    const Entry& entry = entries_[i];
    CALPE_TRY(const Earlier before, output_.earlier(entry, entry.path));
    if (before != Earlier::complete) return false;
    CALPE_TRY(const bool is_same, compare(i, content));
    if (!is_same && options_.overwrite) return false;
    if (!is_same) return other_bytes_error(walk_.full_name(entry.path));
    if (options_.on_there) options_.on_there(entry);
    return true;
  }

  Result<bool> compare(std::size_t i, ContentPieces& content) {
    if (!options_.compares_kept || is_compared_[i]) return true;
    CALPE_TRY(const bool is_same, output_.is_same(entries_[i], entries_[i].path, content));
    is_compared_[i] = is_same;
    return is_same;
  }

  // Checks before anything is written, so that a forgotten --overwrite does not leave a partial
  // restore.
  Status check_nothing_there(ContentPieces& content) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (entry.type == EntryType::folder) continue;
      const SplitPath parts = split_path(entry.path);
      const auto folder = walk_.folder(parts.folder);
      if (!folder) continue;  // missing, or reported by make_folders()
      struct stat about = {};
      const std::string name(parts.name);
      if (::fstatat(*folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (options_.resume) {
        CALPE_TRY(const Earlier before, output_.earlier(entry, entry.path));
        if (before == Earlier::filled) continue;
        if (before == Earlier::complete) {
          const Result<bool> is_same = compare(i, content);
          if (!is_same && !is_lost(is_same.error())) return is_same.error();
          if (!is_same || *is_same) continue;  // what is lost is reported later
          return other_bytes_error(walk_.full_name(entry.path));
        }
      }
      return exists_error(walk_.full_name(entry.path));
    }
    return Done{};
  }

  // Existing directories keep their mode and time unless they are to be overwritten.
  Status make_folders() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::string& path = entries_[i].path;
      if (entries_[i].type != EntryType::folder) continue;
      bool is_new = is_new_;
      if (!path.empty()) {
        const SplitPath parts = split_path(path);
        const std::string name(parts.name);
        CALPE_TRY(const int above, walk_.folder(parts.folder));
        is_new = ::mkdirat(above, name.c_str(), 0700) == 0;
        if (!is_new && errno != EEXIST)
          return system_error("create directory", walk_.full_name(path));
      }
      CALPE_TRY(const int folder, walk_.folder(path));  // fails for a link or file
      const bool is_ours = is_new || options_.overwrite || options_.resume;
      if (!is_new && is_ours) make_writable(folder);
      if (!is_new && options_.resume) TreeOutput::remove_leftovers(folder);
      is_ours_[i] = is_ours;
    }
    return Done{};
  }

  // A directory restored earlier may deny us access. Errors show up when writing.
  static void make_writable(int folder) {
    struct stat about = {};
    if (::fstat(folder, &about) != 0 || (about.st_mode & 0700U) == 0700U) return;
    static_cast<void>(::fchmod(folder, (about.st_mode & 07777U) | 0700U));
  }

  Status finish_folders() {
    for (std::size_t i = entries_.size(); i-- > 0;) {
      const Entry& entry = entries_[i];
      if (entry.type != EntryType::folder) continue;
      CALPE_TRY(const int folder, walk_.folder(entry.path));
      if (is_ours_[i]) {
        CALPE_CHECK(set_attributes(folder, entry, options_, walk_.full_name(entry.path)));
      }
      CALPE_CHECK(output_.sync_folder(folder, entry.path));
    }
    return Done{};
  }

  const std::vector<Entry>& entries_;
  FolderWalk walk_;
  bool is_new_;
  const RestoreOptions& options_;
  TreeOutput output_;
  std::vector<bool> is_ours_;      // directories whose mode and time we set
  std::vector<bool> is_compared_;  // entries whose bytes are those of the content
};

}  // namespace

Status restore_tree(const Manifest& manifest, const ReadContent& read, const std::string& path,
                    const RestoreOptions& options) {
  std::string folder = path;
  while (folder.size() > 1 && folder.ends_with('/'))
    folder.pop_back();
  // Check again: the code below relies on the rules, whatever the origin of the manifest.
  CALPE_CHECK(check_manifest(manifest, std::numeric_limits<std::uint64_t>::max()));
  const std::vector<Entry>& entries = manifest.entries;
  if (!entries.empty() && entries[0].type == EntryType::stream) {
    return invalid("a stream has no file name to restore below ", shown_path(folder),
                   "; give the path of a file");
  }
  const bool has_root = !entries.empty() && entries[0].path.empty();
  const std::filesystem::path above = std::filesystem::path(folder).parent_path();
  if (!above.empty()) {
    std::error_code error;
    std::filesystem::create_directories(above, error);
    if (error) {
      return make_error(ErrorCode::io, "cannot create directory ", shown_path(above.string()), ": ",
                        error.message());
    }
  }
  // Accessible only to us until its own mode is set, if it has one.
  const bool is_new = ::mkdir(folder.c_str(), has_root ? 0700 : 0777) == 0;
  if (!is_new && errno != EEXIST) return system_error("create directory", folder);
  CALPE_TRY(auto top, open_folder(folder));
  return TreeRestore(manifest, FolderWalk(std::move(top), folder), is_new, options).run(read);
}

Status restore_file(const Entry& entry, const ReadContent& read, const std::string& path,
                    const RestoreOptions& options) {
  CALPE_CHECK(check_data(entry));
  const SplitPath parts = split_path(path);
  const std::string name(parts.name);
  const bool is_at_root = parts.folder.empty() && path.starts_with('/');
  const std::string folder = is_at_root ? "/" : std::string(parts.folder);
  if (name.empty()) return invalid("\"", shown_path(path), "\" has no file name");
  CALPE_TRY(auto top, open_folder(folder.empty() ? "." : folder));
  struct stat about = {};
  const int there = ::fstatat(top.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW);
  if (there == 0 && S_ISDIR(about.st_mode)) {
    return make_error(ErrorCode::io, shown_path(path), " is a directory; expected a file");
  }
  FolderWalk walk(std::move(top), folder.empty() ? "." : folder);
  Earlier before = Earlier::other;
  ContentPieces content(read, data_ranges({&entry, 1}), options);
  if (options.resume) {
    TreeOutput::remove_leftovers(walk.top());
    TreeOutput earlier(walk, options, true);
    CALPE_TRY(before, earlier.earlier(entry, name));
    bool is_same = before == Earlier::complete;
    if (is_same && options.compares_kept) {
      CALPE_TRY(is_same, earlier.is_same(entry, name, content));
      if (!is_same && !options.overwrite) return other_bytes_error(path);
    }
    if (is_same && options.on_there) options.on_there(entry);
    if (is_same) return Done{};
  }
  const bool may_replace = options.overwrite || before == Earlier::filled;
  if (there == 0 && !may_replace) return exists_error(path);
  TreeOutput output(walk, options, true);
  CALPE_CHECK(output.file(entry, name, content));
  CALPE_CHECK(output.give_names());
  CALPE_CHECK(output.sync_folder(walk.top(), ""));
  if (options.on_progress) options.on_progress(content.all_bytes(), content.all_bytes());
  return Done{};
}

}  // namespace calpe::store
