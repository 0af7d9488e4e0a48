// SPDX-License-Identifier: Apache-2.0
#include "backend/openmp/builds.hpp"

#include <utility>

#include "kernel_cache/identity.hpp"

namespace calpe::backend::openmp {

std::shared_ptr<Build> Builds::share(std::shared_ptr<Build> made) {
  const std::string digest = kernel::digest(made->content());
  const std::lock_guard lock(mutex_);
  if (known_.size() >= known_max) {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  }
  std::weak_ptr<Build>& entry = known_[digest];
  // The digest finds it, the content decides. Retry a failed build: it may have lacked memory.
  if (std::shared_ptr<Build> known = entry.lock();
      known && known->content() == made->content() && known->phase() != Phase::failed) {
    return known;
  }
  entry = made;
  return made;
}

void Builds::keep(std::shared_ptr<Build> build) {
  std::string digest = kernel::digest(build->content());
  kept_.insert(std::move(digest), std::move(build));
}

}  // namespace calpe::backend::openmp
