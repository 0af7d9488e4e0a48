// SPDX-License-Identifier: Apache-2.0
#include "store/read/scrub.hpp"

#include <algorithm>
#include <thread>

namespace calpe::store {

StripeRun Scrub::stripes_of(std::uint64_t stripe_count) const noexcept {
  // Without a product, which could overflow.
  const std::uint64_t each = stripe_count / parts;
  const std::uint64_t rest = stripe_count % parts;
  const std::uint64_t first = (part - 1) * each + std::min(part - 1, rest);
  return {.first_stripe = first, .stripe_count = each + (part <= rest ? 1 : 0)};
}

void ReadPace::add(std::uint64_t bytes) {
  if (bytes_per_second_ == 0) return;
  bytes_ += bytes;
  const std::chrono::duration<double> due(static_cast<double>(bytes_) /
                                          static_cast<double>(bytes_per_second_));
  std::this_thread::sleep_until(
      start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(due));
}

}  // namespace calpe::store
