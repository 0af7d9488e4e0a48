// SPDX-License-Identifier: Apache-2.0
// What grows in a daemon with the number of patterns and placement groups, for docs/ceph.md:
//   calpe_ceph_scale
// prints for each code: bytes and microseconds per plan, the maximum of all plans, bytes of a
// placement group's erasure code, and chunks read for one lost chunk. Fails if plans are not
// bounded.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <malloc.h>
#include <vector>

#include "distributed/ceph/stripe.hpp"

namespace {

using ceph_host::Profile;
using ceph_host::Stripe;

struct Growth {
  std::size_t patterns = 0;      // of at most m lost chunks that can be rebuilt
  double plan_bytes = 0;         // mean of the first 500 patterns, or of all
  double plan_seconds = 0;       // median difference between the first and the second call
  double most_bytes = 0;         // maximum of all plans at any time
  double group_bytes = 0;        // per placement group
  double reads_of_one_lost = 0;  // mean number of chunks
};

// Memory of this program, including large buffers.
double bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// A daemon's two calls for what is lost; negative where that is refused. Nothing of it stays but
// what the plugin keeps.
double seconds_of_rebuild(const Stripe& stripe, std::uint32_t lost) {
  const std::set<int> want = ceph_host::shards_in(lost);
  const std::set<int> available = ceph_host::shards_in(stripe.all() & ~lost);
  const ceph::Chunks left = stripe.only(stripe.all() & ~lost);
  ceph::SubChunks minimum;
  ceph::Chunks decoded;
  const double start = seconds_now();
  if (stripe.code->minimum_to_decode(want, available, &minimum) != 0) return -1;
  if (stripe.code->decode(want, left, &decoded, 0) != 0) return -1;
  return seconds_now() - start;
}

void measure_plans(Growth& growth, const Stripe& stripe) {
  constexpr std::size_t counted_max = 500;  // fewer than are kept
  const auto parity = static_cast<int>(stripe.code->get_coding_chunk_count());
  std::vector<double> seconds;
  seconds.reserve(std::size_t{stripe.all()} + 1);
  const double before = bytes_in_use();
  for (std::uint32_t lost = 1; lost <= stripe.all(); ++lost) {
    if (ceph_host::shard_count_of(lost) > parity) continue;
    const double first = seconds_of_rebuild(stripe, lost);
    if (first < 0) continue;
    seconds.push_back(first - seconds_of_rebuild(stripe, lost));
    const double bytes = bytes_in_use() - before;
    if (seconds.size() <= counted_max) {
      growth.plan_bytes = bytes / static_cast<double>(seconds.size());
    }
    growth.most_bytes = std::max(growth.most_bytes, bytes);
  }
  growth.patterns = seconds.size();
  growth.plan_seconds = median(std::move(seconds));
}

Growth measure(const Profile& profile) {
  Growth growth;
  const Stripe stripe(ceph_host::require_code(profile), 4096, 1);
  measure_plans(growth, stripe);
  constexpr std::size_t groups = 1000;
  std::vector<ceph::ErasureCodeInterfaceRef> codes;
  codes.reserve(groups);
  const double before = bytes_in_use();
  while (codes.size() < groups)
    codes.push_back(ceph_host::require_code(profile));
  growth.group_bytes = (bytes_in_use() - before) / groups;
  const unsigned chunks = stripe.code->get_chunk_count();
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const std::uint32_t lost = 1u << chunk;
    growth.reads_of_one_lost +=
        static_cast<double>(ceph_host::shard_count_of(stripe.minimum(lost, stripe.all() & ~lost))) /
        chunks;
  }
  return growth;
}

// Codes that are no longer kept must be freed.
bool is_bounded(const Growth& growth) {
  constexpr std::size_t kept = 1024;
  return growth.patterns <= 2 * kept ||
         growth.most_bytes < 0.75 * growth.plan_bytes * static_cast<double>(growth.patterns);
}

}  // namespace

int main() {
  const std::vector<std::vector<std::pair<std::string, std::string>>> codes = {
      {{"k", "4"}, {"m", "2"}},
      {{"k", "8"}, {"m", "3"}},
      {{"k", "10"}, {"m", "4"}},
      {{"k", "12"}, {"m", "4"}},
      {{"k", "16"}, {"m", "4"}},
      {{"k", "8"}, {"m", "4"}, {"l", "2"}, {"profile", "lrc"}},
      {{"k", "12"}, {"m", "4"}, {"l", "2"}, {"profile", "lrc"}}};
  bool all_bounded = true;
  std::printf("%-22s %8s %10s %8s %10s %10s %10s\n", "code", "patterns", "plan bytes", "plan us",
              "most KiB", "PG bytes", "reads of 1");
  for (const auto& keys : codes) {
    Profile profile{{"plugin", "calpe"}};
    std::string name;
    for (const auto& [key, value] : keys) {
      profile[key] = value;
      name.append(name.empty() ? "" : " ").append(key).append("=").append(value);
    }
    const Growth growth = measure(profile);
    all_bounded = all_bounded && is_bounded(growth);
    std::printf("%-22s %8zu %10.0f %8.1f %10.0f %10.0f %10.2f%s\n", name.c_str(), growth.patterns,
                growth.plan_bytes, growth.plan_seconds * 1e6, growth.most_bytes / 1024,
                growth.group_bytes, growth.reads_of_one_lost,
                is_bounded(growth) ? "" : "  NOT BOUNDED");
  }
  return all_bounded ? 0 : 1;
}
