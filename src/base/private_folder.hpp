// SPDX-License-Identifier: Apache-2.0
// A directory whose files are trusted, so only its owner may write to it. It is checked once and
// then used by its descriptor, so replacing the directory later has no effect. Links in it are not
// followed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe {

class PrivateFolder {
 public:
  // Fails with io if it is not a directory, belongs to another user, or is writable by group or
  // others. Follows a link to a directory and checks its target.
  static Result<PrivateFolder> open(const std::string& path);
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  ~PrivateFolder();

  const std::string& path() const noexcept { return path_; }

  // Reads a regular file that only we own and may write. `name` has no '/'.
  Result<std::string> read(const std::string& name) const;
  // Creates a file for the owner only; fails if the name exists.
  Status create(const std::string& name, std::string_view bytes) const;
  // Writes "<name>.<pid>.<count>.new" and renames it, so readers see the old or the new bytes.
  Status replace(const std::string& name, std::string_view bytes) const;
  void remove(const std::string& name) const noexcept;
  void mark_used(const std::string& name) const noexcept;  // sets the time of use to now

  struct Entry {
    std::string name = {};
    std::int64_t used = 0;  // nanoseconds since 1970
    std::uint64_t bytes = 0;
  };
  // Lists regular files in no particular order. Files may come and go meanwhile.
  std::vector<Entry> list() const;

 private:
  PrivateFolder(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace calpe
