// SPDX-License-Identifier: Apache-2.0
// Paths below a folder, opened part by part: no link is followed, so nothing outside is reached,
// whatever is in the folder. Names may be longer than the system's limit for a whole path.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include <calpe/result.hpp>

#include "store/io/descriptor.hpp"

namespace calpe::store {

// "open /a/b: No such file or directory", from errno.
Error system_error(std::string_view action, std::string_view path);

// "a/b/c" is "c" in "a/b".
struct SplitPath {
  std::string_view folder;  // empty: at the top
  std::string_view name;
};
SplitPath split_path(std::string_view path) noexcept;

class FolderWalk {
 public:
  // top: an open folder, named `name` in messages.
  FolderWalk(Descriptor top, std::string name) : top_(std::move(top)), name_(std::move(name)) {}

  int top() const noexcept { return top_.get(); }
  // Of the folder at `path` below the top, "" is the top; good until the next call. One is kept
  // open, and most calls ask for the same folder, or one in it. Fails with io, also where a part is
  // a link.
  Result<int> folder(std::string_view path);
  std::string full_name(std::string_view path) const;

 private:
  Descriptor top_;
  std::string name_;
  Descriptor last_;
  std::string last_path_;
};

// As the caller's path says, links followed: it is trusted. Fails with io.
Result<Descriptor> open_folder(const std::string& path);

}  // namespace calpe::store
