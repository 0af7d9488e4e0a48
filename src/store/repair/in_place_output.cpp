// SPDX-License-Identifier: Apache-2.0
#include "store/repair/in_place_output.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/tree/file_digest.hpp"
#include "store/tree/in_place_path.hpp"
#include "store/tree/tree_difference.hpp"
#include "store/tree/tree_output.hpp"

namespace calpe::store {

namespace {

RestoreOptions with_owners(RestoreOptions options, bool owners) {
  options.overwrite = true;
  options.names_together = true;
  options.owners = owners;
  return options;
}

// Files that are open while they are written; others are opened again.
constexpr std::size_t open_files_max = 256;

}  // namespace

struct OriginalOutput::Impl {
  Impl(const Manifest& manifest, OriginalPlace place, std::span<const OriginalState> states)
      : manifest_(manifest),
        states_(states),
        place_(std::move(place)),
        new_options_(with_owners({}, false)),
        kept_options_(with_owners({}, true)),
        new_(place_.walk(), new_options_, place_.is_single()),
        kept_(place_.walk(), kept_options_, place_.is_single()) {}

  // In manifest order: directories come before their entries.
  Status begin() {
    for (const OriginalState& state : states_) {
      const Entry& entry = entry_of(state);
      if (entry.type == EntryType::folder) CALPE_CHECK(make_folder(entry));
    }
    for (const OriginalState& state : states_) {
      const Entry& entry = entry_of(state);
      if (entry.type != EntryType::file) continue;
      left_[state.entry] = data_bytes_of(entry);
      if (!entry.extents.empty()) continue;
      CALPE_TRY(Writing * writing, file_of(state.entry));
      CALPE_CHECK(end(state.entry, *writing));
    }
    return Done{};
  }

  Status write(std::size_t entry, std::uint64_t offset, std::span<const std::byte> bytes) {
    CALPE_TRY(Writing * writing, file_of(entry));
    if (!writing->begun.file) close_some();
    writing->last_use = ++uses_;
    CALPE_CHECK(writing->output->write(writing->begun, offset, bytes));
    left_[entry] -= bytes.size();
    return left_[entry] == 0 ? end(entry, *writing) : Done{};
  }

  void drop(std::size_t entry) {
    left_.erase(entry);
    const auto found = writing_.find(entry);
    if (found == writing_.end()) return;
    found->second.output->discard(found->second.begun.path);
    writing_.erase(found);
  }

  Status finish() {
    CALPE_CHECK(give_names());
    for (const OriginalState& state : states_) {
      const Entry& entry = entry_of(state);
      if (entry.type == EntryType::link) CALPE_CHECK(link(entry));
    }
    CALPE_CHECK(give_names());
    return finish_folders();
  }

  bool is_wanted(std::size_t entry) const { return left_.contains(entry); }

 private:
  struct Writing {
    BegunFile begun;
    TreeOutput* output = nullptr;
    std::uint64_t last_use = 0;
  };

  void close_some() {
    const auto is_open = [](const auto& one) { return static_cast<bool>(one.second.begun.file); };
    if (std::count_if(writing_.begin(), writing_.end(), is_open) <
        static_cast<std::ptrdiff_t>(open_files_max))
      return;
    const auto oldest =
        std::min_element(writing_.begin(), writing_.end(), [&](const auto& a, const auto& b) {
          return std::pair(!is_open(a), a.second.last_use) <
                 std::pair(!is_open(b), b.second.last_use);
        });
    const Descriptor closed = std::move(oldest->second.begun.file);
  }

  Result<Writing*> file_of(std::size_t number) {
    const auto found = writing_.find(number);
    if (found != writing_.end()) return &found->second;
    close_some();
    const Entry& entry = manifest_.entries[number];
    const std::string& path = place_.path_of(entry);
    CALPE_CHECK(note_change(std::string(split_path(path).folder)));
    struct stat about = {};
    CALPE_TRY(const bool is_there, place_.look_at(entry, about));
    const bool is_kept = is_there && S_ISREG(about.st_mode);
    Entry wanted = entry;
    if (is_kept) {
      wanted.mode = about.st_mode & 07777U;
      wanted.user = about.st_uid;
      wanted.group = about.st_gid;
    }
    TreeOutput& output = is_kept ? kept_ : new_;
    CALPE_TRY(BegunFile begun, output.begin(wanted, path));
    return &writing_.emplace(number, Writing{std::move(begun), &output, ++uses_}).first->second;
  }

  Status end(std::size_t entry, Writing& writing) {
    CALPE_CHECK(writing.output->end(writing.begun));
    writing_.erase(entry);
    return Done{};
  }

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
      // Its own mode at once: if the repair is killed, the next one does not know that it is new.
      const mode_t mode = (entry.mode & 01777U) | 0700U;
      if (::mkdirat(above, name.c_str(), mode) != 0 ||
          ::fchmodat(above, name.c_str(), mode, 0) != 0)
        return system_error("create directory", place_.full_name(entry));
    }
    made_.push_back(&entry);
    return note_change(entry.path);
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
  std::span<const OriginalState> states_;
  OriginalPlace place_;
  RestoreOptions new_options_;
  RestoreOptions kept_options_;
  TreeOutput new_;
  TreeOutput kept_;                            // for existing files: keeps their owners
  std::vector<const Entry*> made_;             // directories created
  std::map<std::string, timespec> changed_;    // directories with their previous times
  std::map<std::size_t, std::uint64_t> left_;  // bytes to be written, by entry
  std::map<std::size_t, Writing> writing_;     // begun files, by entry
  std::uint64_t uses_ = 0;
};

OriginalOutput::OriginalOutput(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OriginalOutput::OriginalOutput(OriginalOutput&&) noexcept = default;
OriginalOutput::~OriginalOutput() = default;

Status OriginalOutput::begin() {
  return impl_->begin();
}
bool OriginalOutput::is_wanted(std::size_t entry) const {
  return impl_->is_wanted(entry);
}
Status OriginalOutput::write(std::size_t entry, std::uint64_t offset,
                             std::span<const std::byte> bytes) {
  return impl_->write(entry, offset, bytes);
}
void OriginalOutput::drop(std::size_t entry) {
  impl_->drop(entry);
}
Status OriginalOutput::finish() {
  return impl_->finish();
}

Result<InTheWay> find_in_the_way(const Manifest& manifest, std::span<const OriginalState> states,
                                 const std::string& original) {
  CALPE_TRY(OriginalPlace place, OriginalPlace::open(manifest, original));
  InTheWay found;
  std::set<std::size_t> wanted;
  for (const OriginalState& state : states)
    wanted.insert(state.entry);
  std::set<std::string_view> blocked;  // directories that cannot be entered
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const Entry& entry = manifest.entries[i];
    const bool is_folder = entry.type == EntryType::folder;
    if (!is_folder && !wanted.contains(i)) continue;
    if (blocked.contains(split_path(entry.path).folder)) {
      if (is_folder) blocked.insert(entry.path);
      if (wanted.contains(i)) found.entries.insert(i);
      continue;
    }
    struct stat about = {};
    CALPE_TRY(const bool is_there, place.look_at(entry, about));
    // The path itself may be a link.
    if (!is_there || entry.path.empty() || S_ISDIR(about.st_mode) == is_folder) continue;
    if (is_folder) blocked.insert(entry.path);
    if (wanted.contains(i)) found.entries.insert(i);
    found.paths.push_back(place.full_name(entry));
  }
  return found;
}

Status remove_restore_leftovers(const Manifest& manifest, const std::string& original) {
  CALPE_TRY(OriginalPlace place, OriginalPlace::open(manifest, original));
  if (!place.is_there()) return Done{};
  if (place.is_single()) TreeOutput::remove_leftovers(place.walk().top());
  for (const Entry& entry : manifest.entries) {
    if (entry.type != EntryType::folder) continue;
    const Result<int> folder = place.walk().folder(entry.path);
    if (folder) TreeOutput::remove_leftovers(*folder);
  }
  return Done{};
}

Result<OriginalOutput> OriginalOutput::open(const Manifest& manifest,
                                            std::span<const OriginalState> states,
                                            const std::string& original) {
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
  return OriginalOutput(std::make_unique<Impl>(manifest, std::move(place), states));
}

}  // namespace calpe::store
