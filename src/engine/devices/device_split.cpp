// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/device_split.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/allocation_guard.hpp"
#include "base/threads.hpp"
#include "engine/devices/device_shares.hpp"
#include "engine/run/thread_split.hpp"

namespace calpe::engine {

namespace {

// With this many items, rounding changes a share by less than a percent.
constexpr std::size_t many = 64;
// Keeps two devices from writing the same page, unless the shards are short.
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t line_bytes = 64;

struct Cut {
  Split::By by;
  std::size_t count;
  std::size_t granule;
};

Cut choose_cut(const backend::Batch& whole) {
  const backend::Geometry& g = whole.geometry;
  const std::size_t granule = g.unit_bytes >= many * page_bytes ? page_bytes : line_bytes;
  const Cut stripes{.by = Split::By::stripes, .count = whole.stripe_count, .granule = 1};
  const Cut groups{.by = Split::By::groups, .count = g.group_count, .granule = 1};
  const Cut columns{.by = Split::By::columns, .count = g.unit_bytes, .granule = granule};
  if (stripes.count >= many) return stripes;
  if (groups.count >= many) return groups;
  if (columns.count / columns.granule >= many) return columns;
  return std::max({stripes, groups, columns}, [](const Cut& a, const Cut& b) {
    return a.count / a.granule < b.count / b.granule;
  });
}

}  // namespace

std::vector<backend::Batch> cut_by_shares(const backend::Batch& whole, const KernelShape& shape,
                                          std::span<const double> shares) {
  const Cut cut = choose_cut(whole);
  std::vector<backend::Batch> parts;
  std::size_t begin = 0;
  for (const std::size_t end : share_ends(shares, cut.count, cut.granule)) {
    parts.push_back(range_of(whole, cut.by, begin, end - begin, shape.shards));
    if (begin == end) parts.back().stripe_count = 0;
    begin = end;
  }
  return parts;
}

void PartsUnderWay::start() {
  under_way_.reserve(parts_.size());
  std::vector<const DevicePart*> on_caller;
  for (const DevicePart& part : parts_) {
    if (part.device->runs_on_caller()) {
      on_caller.push_back(&part);
    } else {
      under_way_.push_back(part.device->submit(*part.kernel, part.batch));
    }
  }
  std::vector<Status> results(on_caller.size(), Done{});
  run_side_by_side(on_caller.size(), [&](std::size_t i) {
    results[i] = guarded(
        [&] { return on_caller[i]->device->run(*on_caller[i]->kernel, on_caller[i]->batch); });
  });
  for (Status& each : results) {
    if (result_ && !each) result_ = std::move(each);
  }
}

Status PartsUnderWay::wait() {
  for (backend::Completion& completion : std::exchange(under_way_, {})) {
    Status done = guarded([&] { return completion.wait(); });
    if (result_ && !done) result_ = std::move(done);
  }
  return result_;
}

}  // namespace calpe::engine
