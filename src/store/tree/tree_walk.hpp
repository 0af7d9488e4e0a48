// SPDX-License-Identifier: Apache-2.0
// Opens paths below a directory component by component. No link is followed, so nothing outside is
// reached. A path may be longer than the system's limit.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include <calpe/result.hpp>

#include "store/io/descriptor.hpp"

namespace calpe::store {

// "cannot open /a/b: No such file or directory", from errno.
Error system_error(std::string_view action, std::string_view path);

// "a/b/c" is "c" in "a/b".
struct SplitPath {
  std::string_view folder;  // empty: the top
  std::string_view name;
};
SplitPath split_path(std::string_view path) noexcept;

class FolderWalk {
 public:
  // top: an open directory, called `name` in messages.
  FolderWalk(Descriptor top, std::string name) : top_(std::move(top)), name_(std::move(name)) {}

  int top() const noexcept { return top_.get(); }
  // Returns a descriptor of the directory at `path` below the top ("" is the top), valid until the
  // next call. The last one is kept open, as most calls ask for it or a directory in it. Fails with
  // io, also where a component is a link.
  Result<int> folder(std::string_view path);
  std::string full_name(std::string_view path) const;

 private:
  Descriptor top_;
  std::string name_;
  Descriptor last_;
  std::string last_path_;
};

// Opens the caller's path, which is trusted: links are followed. Fails with io.
Result<Descriptor> open_folder(const std::string& path);

}  // namespace calpe::store
