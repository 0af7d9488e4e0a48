// SPDX-License-Identifier: Apache-2.0
// Caches compiled objects on disk, one file each.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <calpe/result.hpp>

#include "kernel_cache/cache_folder.hpp"

namespace calpe::kernel {

// Several processes and threads may use one directory: files are renamed into place when complete.
// An object that cannot be stored is compiled again the next time.
class DiskCache {
 public:
  static constexpr std::uint64_t bytes_max_default = 64 << 20;

  // Fails with io, see prepare_folder.
  static Result<DiskCache> open(const std::string& folder,
                                std::uint64_t bytes_max = bytes_max_default);

  // Opens the cache of a backend. Returns nullopt if there is no directory, or if a default
  // directory is refused, which is logged. Fails with backend_unavailable if CALPE_CACHE_DIR is
  // refused.
  static Result<std::optional<DiskCache>> open(const CacheLocation& location);

  // Returns the object stored for exactly this content (identity.hpp). A damaged file, or one whose
  // content differs under the same digest, counts as absent. Damaged files are removed.
  std::optional<std::string> find(std::string_view content) const;

  // Stores the object, then removes the least recently used files until all have at most bytes_max
  // together. An object larger than that is not stored. Fails with io.
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
