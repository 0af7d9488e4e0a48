// SPDX-License-Identifier: Apache-2.0
// Compiled objects that outlive the process, one file each.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <calpe/result.hpp>

#include "kernel_cache/cache_folder.hpp"

namespace calpe::kernel {

// Several processes and threads may use one folder: files are written aside and renamed into place,
// so that nobody sees half of one. What cannot be stored is compiled again another time.
class DiskCache {
 public:
  static constexpr std::uint64_t bytes_max_default = 64 << 20;

  // Fails with io, see prepare_folder.
  static Result<DiskCache> open(std::string folder, std::uint64_t bytes_max = bytes_max_default);

  // The cache of a backend: none where there is no folder, or where one that nobody named is
  // refused, which the log tells. Fails with backend_unavailable when CALPE_CACHE_DIR names it.
  static Result<std::optional<DiskCache>> open(const CacheLocation& location);

  // The object that was stored for exactly this content (identity.hpp). A file that is damaged, or
  // whose content is another one with the same digest, counts as absent; damaged ones are removed.
  std::optional<std::string> find(std::string_view content) const;

  // Then removes the files used longest ago until all together have at most bytes_max; an object
  // that is larger by itself is not stored. Fails with io.
  Status put(std::string_view content, std::string_view object) const;

  const std::string& folder() const noexcept { return folder_->path(); }

 private:
  DiskCache(PrivateFolder folder, std::uint64_t bytes_max)
      : folder_(std::make_shared<const PrivateFolder>(std::move(folder))), bytes_max_(bytes_max) {}
  void trim() const;

  std::shared_ptr<const PrivateFolder> folder_;
  std::uint64_t bytes_max_;
};

}  // namespace calpe::kernel
