// SPDX-License-Identifier: Apache-2.0
#include "store/repair/in_place_output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/tree/in_place_path.hpp"
#include "store/tree/tree_difference.hpp"
#include "store/tree/tree_output.hpp"

namespace calpe::store {

namespace {

RestoreOptions with_owners(RestoreOptions options, bool owners) {
  options.overwrite = true;
  options.owners = owners;
  return options;
}

class PutBack {
 public:
  PutBack(const Manifest& manifest, OriginalPlace place, const RestoreOptions& options)
      : manifest_(manifest),
        place_(std::move(place)),
        new_options_(with_owners(options, false)),
        kept_options_(with_owners(options, true)),
        new_(place_.walk(), new_options_, place_.is_single()),
        kept_(place_.walk(), kept_options_, place_.is_single()) {}

  Status run(std::span<const OriginalState> states, const ReadContent& read) {
    std::vector<ContentRange> wanted;
    for (const OriginalState& state : states)
      add_data(entry_of(state), wanted);
    ContentPieces content(read, std::move(wanted), new_options_);
    // In manifest order: directories come before their entries.
    for (const OriginalState& state : states) {
      const Entry& entry = entry_of(state);
      if (entry.type == EntryType::folder) CALPE_CHECK(make_folder(entry));
    }
    for (const OriginalState& state : states) {
      const Entry& entry = entry_of(state);
      if (entry.type == EntryType::file) CALPE_CHECK(file(entry, content));
    }
    CALPE_CHECK(give_names());
    for (const OriginalState& state : states) {
      const Entry& entry = entry_of(state);
      if (entry.type == EntryType::link) CALPE_CHECK(link(entry));
    }
    CALPE_CHECK(give_names());
    return finish_folders();
  }

 private:
  const Entry& entry_of(const OriginalState& state) const { return manifest_.entries[state.entry]; }

  Status give_names() {
    CALPE_CHECK(kept_.give_names());
    return new_.give_names();
  }

  // Call before a file is created in a directory, which changes its time.
  Status note_change(const std::string& path) {
    if (changed_.contains(path)) return Done{};
    CALPE_TRY(const int folder, place_.walk().folder(path));
    struct stat about = {};
    if (::fstat(folder, &about) != 0) return system_error("access", place_.walk().full_name(path));
    changed_[path] = about.st_mtim;
    return Done{};
  }

  Status make_folder(const Entry& entry) {
    if (!entry.path.empty()) {
      const SplitPath parts = split_path(entry.path);
      const std::string name(parts.name);
      CALPE_CHECK(note_change(std::string(parts.folder)));
      CALPE_TRY(const int above, place_.walk().folder(parts.folder));
      if (::mkdirat(above, name.c_str(), 0700) != 0)
        return system_error("create directory", place_.full_name(entry));
    }
    made_.push_back(&entry);
    return note_change(entry.path);
  }

  Status file(const Entry& entry, ContentPieces& content) {
    const std::string& path = place_.path_of(entry);
    CALPE_CHECK(note_change(std::string(split_path(path).folder)));
    struct stat about = {};
    CALPE_TRY(const bool is_there, place_.look_at(entry, about));
    if (is_there && S_ISDIR(about.st_mode)) {
      return make_error(ErrorCode::io, shown_path(place_.full_name(entry)),
                        " is a directory; expected a file; move it away");
    }
    if (!is_there || !S_ISREG(about.st_mode)) return new_.file(entry, path, content);
    Entry kept = entry;
    kept.mode = about.st_mode & 07777U;
    kept.user = about.st_uid;
    kept.group = about.st_gid;
    return kept_.file(kept, path, content);
  }

  Status link(const Entry& entry) {
    const std::string& path = place_.path_of(entry);
    CALPE_CHECK(note_change(std::string(split_path(path).folder)));
    return new_.link(entry, path);
  }

  Status finish_folders() {
    for (const auto& [path, time] : changed_) {
      CALPE_TRY(const int folder, place_.walk().folder(path));
      // A directory of another user keeps the new time, which is harmless.
      const std::array<timespec, 2> times = {timespec{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, time};
      static_cast<void>(::futimens(folder, times.data()));
    }
    for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
      CALPE_TRY(const int folder, place_.walk().folder((*made)->path));
      CALPE_CHECK(set_attributes(folder, **made, new_options_, place_.full_name(**made)));
    }
    for (const auto& [path, time] : changed_) {
      CALPE_TRY(const int folder, place_.walk().folder(path));
      CALPE_CHECK(new_.sync_folder(folder, path));
    }
    return new_.sync_all();
  }

  const Manifest& manifest_;
  OriginalPlace place_;
  RestoreOptions new_options_;
  RestoreOptions kept_options_;
  TreeOutput new_;
  TreeOutput kept_;                          // for existing files: keeps their owners
  std::vector<const Entry*> made_;           // directories created
  std::map<std::string, timespec> changed_;  // directories with their previous times
};

}  // namespace

Status put_back(const Manifest& manifest, std::span<const OriginalState> states,
                const ReadContent& read, const std::string& original,
                const RestoreOptions& options) {
  if (states.empty()) return Done{};
  const std::filesystem::path path(original);
  const bool is_single = is_single_file(manifest);
  const std::filesystem::path top = is_single ? path.parent_path() : path;
  if (!top.empty()) {
    std::error_code error;
    std::filesystem::create_directories(top, error);
    if (error) {
      return make_error(ErrorCode::io, "cannot create directory ", shown_path(top.string()), ": ",
                        error.message());
    }
  }
  CALPE_TRY(OriginalPlace place, OriginalPlace::open(manifest, original));
  if (!place.is_there()) {
    return make_error(ErrorCode::io, shown_path(top.string()), " is not a directory");
  }
  return PutBack(manifest, std::move(place), options).run(states, read);
}

}  // namespace calpe::store
