// SPDX-License-Identifier: Apache-2.0
// Reads and writes small files as a whole. Errors name the file.
#pragma once
#include <string>
#include <string_view>

#include <calpe/result.hpp>

namespace calpe {

// Fails with io, also if `path` is not a regular file.
Result<std::string> read_file(const std::string& path);

// Permissions of a new file. Files that are executed or trusted later are for the owner only.
enum class Readers : unsigned { owner = 0600, as_umask_says = 0666 };

// Writes "<path>.<pid>.<count>.new" and renames it, so readers see the old or the new bytes. Fails
// with io and then leaves no file.
Status replace_file(const std::string& path, std::string_view bytes,
                    Readers readers = Readers::owner);

// A missing file is not an error.
void remove_file(const std::string& path) noexcept;

// A new directory for the owner only, below TMPDIR or /tmp, removed with its contents. Fails with
// io.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    path_.swap(other.path_);
    return *this;
  }
  ~TemporaryFolder();
  const std::string& path() const noexcept { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: moved from
};

}  // namespace calpe
