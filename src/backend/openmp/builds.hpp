// SPDX-License-Identifier: Apache-2.0
// The builds of a device by their content: the same program is compiled once.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backend/openmp/build.hpp"
#include "base/bounded_cache.hpp"

namespace calpe::backend::openmp {

// Compiled ones are kept when no kernel uses them any more, so many of them. Unfinished ones are
// not: nobody would look after their compilers. Thread-safe.
class Builds {
 public:
  // The build of the same content that is under way or kept, else `made`.
  std::shared_ptr<Build> share(std::shared_ptr<Build> made);
  // Compiled: keep it.
  void keep(std::shared_ptr<Build> build);

 private:
  static constexpr std::size_t kept_max = 128;
  static constexpr std::size_t known_max = 1024;  // then those that are gone are forgotten

  BoundedCache<std::shared_ptr<Build>> kept_{kept_max};
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<Build>> known_;  // by digest
};

}  // namespace calpe::backend::openmp
