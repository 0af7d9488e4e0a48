// SPDX-License-Identifier: Apache-2.0
#include "remote/set/places.hpp"

#include <bit>
#include <chrono>
#include <new>

#include "base/text.hpp"
#include "base/threads.hpp"
#include "base/try.hpp"

namespace calpe::remote {

std::vector<Status> Places::on_each(const std::function<Status(std::size_t index)>& work) {
  std::vector<Status> results(places_.size(), Status(Done{}));
  const auto run = [&](std::size_t index) {
    try {
      results[index] = work(index);
    } catch (const std::bad_alloc&) {
      results[index] = make_error(ErrorCode::out_of_memory, label(index), ": out of memory");
    }
  };
  std::vector<std::size_t> reachable;
  for (std::size_t index = 0; index < places_.size(); ++index) {
    if (is_up(index)) {
      reachable.push_back(index);
    } else {
      results[index] = make_error(ErrorCode::io, places_[index].why_down);
    }
  }
  run_side_by_side(reachable.size(), [&](std::size_t part) { run(reachable[part]); });
  return results;
}

Status Places::on_all(const std::function<Status(std::size_t index)>& work) {
  for (Status& result : on_each(work))
    CALPE_CHECK(std::move(result));
  return Done{};
}

Status Places::list_tops() {
  using Clock = std::chrono::steady_clock;
  std::vector<Clock::duration> times(places_.size());
  const std::vector<Status> results = on_each([&](std::size_t index) -> Status {
    const auto start = Clock::now();
    CALPE_TRY(places_[index].top, places_[index].place->list(""));
    times[index] = Clock::now() - start;
    return Done{};
  });
  bool is_any_up = false;
  for (std::size_t index = 0; index < places_.size(); ++index) {
    if (!results[index]) {
      take_down(index, results[index].error().message);
      continue;
    }
    is_any_up = true;
    // Powers of two of 20 ms: smaller differences are noise, and data shards need no decoding.
    const auto steps = std::chrono::duration_cast<std::chrono::milliseconds>(times[index]) / 20;
    places_[index].slowness =
        places_[index].is_preferred
            ? 0
            : 1 + static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(steps.count())));
  }
  if (is_any_up) return Done{};
  std::string all;
  for (const UsedPlace& place : places_)
    all += (all.empty() ? "" : "; ") + place.why_down;
  return make_error(ErrorCode::io, "no place answers: ", all);
}

Status Places::check_all_up() const {
  std::string down;
  for (const UsedPlace& place : places_) {
    if (!place.why_down.empty()) down += (down.empty() ? "" : "; ") + place.why_down;
  }
  if (down.empty()) return Done{};
  return make_error(ErrorCode::io, down, "; nothing was changed, as every place must be reachable");
}

}  // namespace calpe::remote
