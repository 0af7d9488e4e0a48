// SPDX-License-Identifier: Apache-2.0
// Whole files, small ones. Errors name the file.
#pragma once
#include <string>
#include <string_view>

#include <calpe/result.hpp>

namespace calpe {

// Fails with io, also for what is not a regular file.
Result<std::string> read_file(const std::string& path);

// Who may read a new file: what is executed or trusted later is for the owner alone.
enum class Readers : unsigned { owner = 0600, as_umask_says = 0666 };

// Written aside as "<path>.<pid>.<count>.new" and renamed: readers see the old or the new bytes.
// Fails with io; nothing is left behind then.
Status replace_file(const std::string& path, std::string_view bytes,
                    Readers readers = Readers::owner);

// A file that is not there is fine.
void remove_file(const std::string& path) noexcept;

// A new folder for the owner alone, below TMPDIR or /tmp, removed with all that is in it. Fails
// with io.
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
