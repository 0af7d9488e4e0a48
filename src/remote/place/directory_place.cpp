// SPDX-License-Identifier: Apache-2.0
#include "remote/place/directory_place.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/io/file_system.hpp"
#include "store/io/names.hpp"

namespace calpe::remote {

namespace {

namespace fs = std::filesystem;

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
    const std::string part = store::in_folder(
        folder, text(store::temporary_prefix, store::name_of(path), ".", ::getpid(), ".part"));
    if (Status written = write(part, bytes); !written) {
      (void)files().remove(part);
      return written;
    }
    CALPE_CHECK(files().rename(part, path));
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

  static Status write(const std::string& part, std::span<const std::byte> bytes) {
    CALPE_CHECK(files().remove(part));
    CALPE_TRY(const auto file, files().create(part));
    CALPE_CHECK(file->write_at(bytes, 0));
    return file->sync();
  }

  std::string path_;
};

}  // namespace

std::unique_ptr<Place> directory_place(std::string path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return std::make_unique<DirectoryPlace>(std::move(path));
}

}  // namespace calpe::remote
