// SPDX-License-Identifier: Apache-2.0
#include "remote/place/directory_place.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "store/io/file_system.hpp"
#include "store/io/names.hpp"

namespace calpe::remote {

namespace {

namespace fs = std::filesystem;

// Differs from the temporary files of shards, which a local protect may resume.
constexpr std::string_view part_prefix = ".calpe-put-";
constexpr std::string_view part_ending = ".part";

// Returns nothing only if there is no such file. An object that cannot be read must not look like
// one that is missing: a command would take the generation before.
Result<std::optional<struct stat>> look_at(const std::string& path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) == 0) return std::optional(about);
  if (errno == ENOENT) return std::optional<struct stat>();
  return make_error(ErrorCode::io, "cannot access ", path, ": ", std::strerror(errno));
}

// Names that Place allows. Others are never ours, such as a mount point of another user.
bool is_object_name(std::string_view name) {
  constexpr std::string_view known =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.-";
  return !name.starts_with('.') && name.find_first_not_of(known) == std::string_view::npos;
}

class DirectoryPlace final : public Place {
 public:
  explicit DirectoryPlace(std::string path) : path_(std::move(path)) {}

  const std::string& label() const noexcept override { return path_; }

  // Symbolic links, bind mounts and spellings lead to the same inode.
  std::string identity() const override {
    struct stat found = {};
    if (::stat(path_.c_str(), &found) != 0) return path_;
    return text("inode ", found.st_dev, " ", found.st_ino);
  }

  Result<std::vector<ListedObject>> list(const std::string& folder) override {
    CALPE_CHECK(check_there());
    const std::string whole = folder.empty() ? path_ : store::in_folder(path_, folder);
    std::vector<ListedObject> objects;
    CALPE_TRY(const auto there, look_at(whole));
    if (!there) return objects;
    CALPE_TRY(const std::vector<std::string> names, files().list(whole));
    for (const std::string& name : names) {
      if (!is_object_name(name)) continue;  // also of a killed put
      CALPE_TRY(const auto about, look_at(store::in_folder(whole, name)));
      if (about && S_ISREG(about->st_mode))
        objects.push_back({name, static_cast<std::uint64_t>(about->st_size)});
    }
    return objects;
  }

  Status read(const std::string& name, std::span<std::byte> bytes, std::uint64_t offset) override {
    const std::string path = store::in_folder(path_, name);
    CALPE_TRY(const auto file, files().open(path));
    CALPE_TRY(const std::size_t got, file->read_at(bytes, offset));
    if (got == bytes.size()) return Done{};
    return make_error(ErrorCode::io, path, ": ends at byte ", offset + got, "; expected at least ",
                      offset + bytes.size());
  }

  Status put(const std::string& name, std::span<const std::byte> bytes) override {
    CALPE_CHECK(check_there());
    const std::string path = store::in_folder(path_, name);
    const std::string folder = store::folder_of(path);
    const bool is_below = folder != path_;
    if (std::error_code error; is_below && !fs::exists(folder, error)) {
      CALPE_CHECK(files().make_folders(folder));
      CALPE_CHECK(files().sync_folder(path_));
    }
    CALPE_TRY(const std::unique_ptr<store::File> part, create_part(folder));
    remove_dead_parts(folder, part->path());
    if (Status done = finish(*part, bytes, path); !done) {
      (void)files().remove(part->path());
      return done;
    }
    return files().sync_folder(folder);
  }

  Status remove(const std::string& name) override {
    const std::string path = store::in_folder(path_, name);
    CALPE_CHECK(files().remove(path));
    return files().sync_folder(store::folder_of(path));
  }

 private:
  static store::FileSystem& files() { return store::posix_files(); }

  // A missing directory may be a disk that is not mounted, so it is never created.
  Status check_there() const {
    std::error_code error;
    if (fs::is_directory(path_, error)) return Done{};
    return make_error(ErrorCode::io, path_, ": no such directory; create or mount it");
  }

  // Locked, so that other commands see that its put is alive.
  static Result<std::unique_ptr<store::File>> create_part(const std::string& folder) {
    constexpr int attempts_max = 10;  // another command may remove it before it is locked
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
      const std::string path =
          store::in_folder(folder, text(part_prefix, uuid_text(random_uuid()), part_ending));
      CALPE_TRY(std::unique_ptr<store::File> file, files().create(path));
      CALPE_TRY(const bool is_locked, file->lock(store::LockKind::exclusive));
      CALPE_TRY(const auto about, look_at(path));
      if (is_locked && about) return file;
    }
    return make_error(ErrorCode::io, folder, ": another command removes our temporary files");
  }

  static bool is_locked_elsewhere(const std::string& path) {
    const auto file = files().open_to_change(path);
    if (!file) return true;
    const auto locked = (*file)->lock(store::LockKind::exclusive);
    return !locked || !*locked;
  }

  // Removes what killed puts left, once in each folder. Their names are never used again, so the
  // file is still the one that was looked at.
  void remove_dead_parts(const std::string& folder, const std::string& own) {
    if (!cleaned_.insert(folder).second) return;
    // On file systems without locks, nothing is known about other files.
    if (!is_locked_elsewhere(own)) return;
    const auto names = files().list(folder);
    if (!names) return;
    for (const std::string& name : *names) {
      if (!name.starts_with(part_prefix) || !name.ends_with(part_ending)) continue;
      const std::string path = store::in_folder(folder, name);
      if (!is_locked_elsewhere(path)) (void)files().remove(path);
    }
  }

  static Status finish(store::File& part, std::span<const std::byte> bytes,
                       const std::string& path) {
    CALPE_CHECK(part.write_at(bytes, 0));
    CALPE_CHECK(part.sync());
    return files().rename(part.path(), path);
  }

  std::string path_;
  std::set<std::string> cleaned_ = {};  // folders
};

}  // namespace

std::unique_ptr<Place> directory_place(std::string path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return std::make_unique<DirectoryPlace>(std::move(path));
}

}  // namespace calpe::remote
