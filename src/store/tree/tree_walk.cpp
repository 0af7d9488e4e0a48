// SPDX-License-Identifier: Apache-2.0
#include "store/tree/tree_walk.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/manifest.hpp"

namespace calpe::store {

Error system_error(std::string_view action, std::string_view path) {
  const int number = errno;
  return make_error(ErrorCode::io, "cannot ", action, " ", shown_path(path), ": ",
                    std::generic_category().message(number));
}

SplitPath split_path(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {.folder = {}, .name = path};
  return {.folder = path.substr(0, slash), .name = path.substr(slash + 1)};
}

std::string FolderWalk::full_name(std::string_view path) const {
  return path.empty() ? name_ : text(name_, "/", path);
}

Result<int> FolderWalk::folder(std::string_view path) {
  if (path.empty()) return top_.get();
  if (last_ && path == last_path_) return last_.get();
  // Walk down from the open directory if possible, or else from the top.
  const bool is_below = last_ && path.size() > last_path_.size() && path.starts_with(last_path_) &&
                        path[last_path_.size()] == '/';
  std::size_t begin = is_below ? last_path_.size() + 1 : 0;
  if (!is_below) last_ = Descriptor();
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part(path.substr(begin, end - begin));
    const int from = last_ ? last_.get() : top_.get();
    Descriptor next(::openat(from, part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) {
      const Error error = system_error("open directory", full_name(path.substr(0, end)));
      last_ = Descriptor();
      last_path_.clear();
      return error;
    }
    last_ = std::move(next);
    last_path_ = path.substr(0, end);
    begin = end + 1;
  }
  return last_.get();
}

Result<Descriptor> open_folder(const std::string& path) {
  Descriptor opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return system_error("open directory", path);
  return opened;
}

}  // namespace calpe::store
