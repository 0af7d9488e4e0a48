// SPDX-License-Identifier: Apache-2.0
// A directory whose files are trusted, so that only its owner may write there. It is checked once
// and then used by its descriptor: another folder put in its place later changes nothing. No link
// in it is followed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe {

class PrivateFolder {
 public:
  // Fails with io when it is no folder, belongs to another user, or group or others may write to
  // it. A link to a folder is followed: the folder that it leads to is checked.
  static Result<PrivateFolder> open(const std::string& path);
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  ~PrivateFolder();

  const std::string& path() const noexcept { return path_; }

  // A regular file that we own and that only we may write. `name` has no '/'.
  Result<std::string> read(const std::string& name) const;
  // A new file for the owner alone; fails when anything has the name.
  Status create(const std::string& name, std::string_view bytes) const;
  // Written aside as "<name>.<pid>.<count>.new" and renamed: readers see the old or the new bytes.
  Status replace(const std::string& name, std::string_view bytes) const;
  void remove(const std::string& name) const noexcept;
  void mark_used(const std::string& name) const noexcept;  // now

  struct Entry {
    std::string name = {};
    std::int64_t used = 0;  // nanoseconds since 1970
    std::uint64_t bytes = 0;
  };
  // Regular files; in no order. Others may come and go meanwhile.
  std::vector<Entry> list() const;

 private:
  PrivateFolder(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace calpe
