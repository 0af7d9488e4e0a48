// SPDX-License-Identifier: Apache-2.0
#include "store/format/stripe_ranges.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace calpe::store {

namespace {

// Limits the length of messages.
constexpr std::size_t runs_named_max = 20;

}  // namespace

void StripeRanges::add_run(const StripeRun& run) {
  if (run.stripe_count == 0) return;
  if (!runs_.empty() && runs_.back().end() == run.first_stripe) {
    runs_.back().stripe_count += run.stripe_count;
  } else {
    runs_.push_back(run);
  }
}

std::uint64_t StripeRanges::count() const noexcept {
  std::uint64_t sum = 0;
  for (const StripeRun& run : runs_) {
    sum += run.stripe_count;
  }
  return sum;
}

bool StripeRanges::contains(std::uint64_t stripe) const noexcept {
  return contains_run({.first_stripe = stripe, .stripe_count = 1});
}

bool StripeRanges::contains_run(const StripeRun& run) const noexcept {
  const auto after = std::upper_bound(
      runs_.begin(), runs_.end(), run.first_stripe,
      [](std::uint64_t value, const StripeRun& other) { return value < other.first_stripe; });
  return after != runs_.begin() && run.end() <= std::prev(after)->end();
}

std::string to_text(const StripeRanges& ranges) {
  std::string out = ranges.count() == 1 ? "stripe " : "stripes ";
  std::uint64_t named = 0;
  for (std::size_t i = 0; i < ranges.runs().size(); ++i) {
    const StripeRun& run = ranges.runs()[i];
    if (i == runs_named_max) return text(out, " and ", ranges.count() - named, " more");
    named += run.stripe_count;
    const std::uint64_t last = run.end() - 1;
    if (i > 0) out += ", ";
    out += text(run.first_stripe);
    if (last > run.first_stripe) out += text(last == run.first_stripe + 1 ? ", " : " .. ", last);
  }
  return out;
}

}  // namespace calpe::store
