// SPDX-License-Identifier: Apache-2.0
// The builds of a device by content, so that the same program is compiled once.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backend/openmp/build.hpp"
#include "base/bounded_cache.hpp"

namespace calpe::backend::openmp {

// Keeps a limited number of compiled builds that no kernel uses. Unfinished ones are dropped,
// because no kernel would advance them. Thread-safe.
class Builds {
 public:
  // Returns a pending or kept build of the same content, otherwise `made`.
  std::shared_ptr<Build> share(std::shared_ptr<Build> made);
  // Keeps a compiled build.
  void keep(std::shared_ptr<Build> build);

 private:
  static constexpr std::size_t kept_max = 128;
  static constexpr std::size_t known_max = 1024;  // beyond it, expired entries are removed

  BoundedCache<std::shared_ptr<Build>> kept_{kept_max};
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<Build>> known_;  // by digest
};

}  // namespace calpe::backend::openmp
