// SPDX-License-Identifier: Apache-2.0
#include "durability/mission_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "durability/loss_chain.hpp"
#include "durability/probability.hpp"
#include "durability/random_numbers.hpp"
#include "durability/read_errors.hpp"
#include "durability/rebuild_time.hpp"

namespace calpe::durability {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

enum class Cause : std::uint8_t { none, device, read_error, correlated };

// Simulates one group or pool repeatedly.
class Mission {
 public:
  Mission(const Scheme& scheme, const Inputs& inputs, const MissionOptions& options)
      : inputs_(inputs),
        options_(options),
        chain_(make_chain(scheme, inputs)),
        devices_(inputs.pool_devices == 0 ? scheme.shards() : inputs.pool_devices),
        fixed_hours_(rebuild_time(inputs, scheme.single_reads).hours()),
        random_(options.seed) {
    const double unreadable = unreadable_shard(inputs);
    const double stripes = inputs.used_bytes() / inputs.shard_bytes;
    for (unsigned down = 0; down <= scheme.parity_shards; ++down) {
      // In a pool, nearly all stripes that a failure hits have lost no other shard.
      const unsigned shards = inputs.pool_devices == 0 ? down : std::min(down, 1U);
      read_loss_.push_back(at_least_once(stripe_loss(scheme, shards, unreadable), stripes));
    }
  }

  Cause run() {
    begin();
    const double end = inputs_.mission_years * hours_per_year;
    while (true) {
      const double speed = down_.empty() ? 1 : inputs_.batch_factor;
      const auto first = std::min_element(life_.begin(), life_.end());
      const double failure = now_ + *first / speed;
      const double next = std::min({failure, next_rebuild(), shock_, scrub_});
      if (next >= end) return Cause::none;
      age((next - now_) * speed);
      now_ = next;
      Cause cause = Cause::none;
      if (next == failure) {
        cause = fail(std::size_t(first - life_.begin()));
        if (cause == Cause::none && is_lost_by_reading()) cause = Cause::read_error;
      } else if (next == shock_) {
        cause = shock();
      } else if (next == scrub_) {
        scrub_ += inputs_.scrub_days * 24;
        if (is_lost_by_reading()) cause = Cause::read_error;
      } else {
        rebuild();
      }
      if (cause != Cause::none) return cause;
    }
  }

 private:
  struct Down {
    std::size_t device;
    double rebuilt;  // hour of completion; fixed repairs only
  };

  void begin() {
    now_ = 0;
    down_.clear();
    life_.resize(devices_);
    for (double& life : life_)
      life = draw_life();
    rebuild_ = never;
    shock_ = next_shock();
    const bool is_scrubbed = options_.has_read_errors && inputs_.scrub_days > 0;
    scrub_ = is_scrubbed ? inputs_.scrub_days * 24 : never;
  }

  double draw_life() {
    const DeviceLife& life = inputs_.life;
    const double budget = random_.exponential();
    return life.scale_hours * (life.is_exponential() ? budget : std::pow(budget, 1 / life.shape));
  }

  double next_shock() {
    if (inputs_.shocks_per_year == 0) return never;
    return now_ + random_.exponential() * hours_per_year / inputs_.shocks_per_year;
  }

  // While a device is down, the clocks of the others run faster by the batch factor.
  void age(double hours) {
    for (double& life : life_)
      life -= hours;  // infinite for devices that are down
  }

  double next_rebuild() const {
    if (!options_.is_repair_fixed || down_.empty()) return rebuild_;
    double next = never;
    for (const Down& each : down_)
      next = std::min(next, each.rebuilt);
    return next;
  }

  // Exponential repairs have no memory, so draw the next completion again when their number
  // changes.
  void redraw() {
    rebuild_ = down_.empty() ? never : now_ + random_.exponential() / chain_.down[down_.size()];
  }

  bool is_lost_by_reading() {
    return options_.has_read_errors && down_.size() < read_loss_.size() &&
           random_.unit() < read_loss_[down_.size()];
  }

  Cause fail(std::size_t device) {
    if (random_.unit() < chain_.fatal[down_.size()]) return Cause::device;
    double begin = now_;
    if (inputs_.is_repair_serial) {
      for (const Down& each : down_)
        begin = std::max(begin, each.rebuilt);
    }
    down_.push_back({device, begin + fixed_hours_});
    life_[device] = never;
    redraw();
    return Cause::none;
  }

  void rebuild() {
    std::size_t done = 0;
    if (options_.is_repair_fixed) {
      while (down_[done].rebuilt != now_)
        ++done;
    } else {
      done = std::size_t(random_.unit() * double(down_.size()));
    }
    life_[down_[done].device] = draw_life();
    down_.erase(down_.begin() + std::ptrdiff_t(done));
    redraw();
  }

  // A shock hits each device independently; hit devices join those that are down.
  Cause shock() {
    shock_ = next_shock();
    const std::size_t before = down_.size();
    for (std::size_t device = 0; device < life_.size(); ++device) {
      if (life_[device] == never || random_.unit() >= inputs_.shock_hit) continue;
      if (fail(device) != Cause::none) return Cause::correlated;
    }
    return down_.size() > before && is_lost_by_reading() ? Cause::read_error : Cause::none;
  }

  const Inputs& inputs_;
  const MissionOptions& options_;
  const LossChain chain_;
  const std::uint64_t devices_;
  const double fixed_hours_;
  RandomNumbers random_;
  std::vector<double> read_loss_;  // by number of devices down: P[at least one stripe is lost]
  double now_ = 0;
  std::vector<double> life_;  // remaining hours
  std::vector<Down> down_;
  double rebuild_ = never;
  double shock_ = never;
  double scrub_ = never;
};

// Also valid if nothing or everything was lost.
void set_interval(MissionResult& result) {
  constexpr double z = 1.959964;
  const auto n = double(result.missions);
  const double p = double(result.losses()) / n;
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  result.probability = p;
  result.low = std::max(0.0, middle - half);
  result.high = std::min(1.0, middle + half);
}

}  // namespace

MissionResult simulate_missions(const Scheme& scheme, const Inputs& inputs,
                                const MissionOptions& options) {
  MissionResult result;
  result.missions = options.missions;
  if (options.missions == 0) return result;
  Mission mission(scheme, inputs, options);
  for (std::uint64_t i = 0; i < options.missions; ++i) {
    switch (mission.run()) {
      case Cause::none:
        break;
      case Cause::device:
        ++result.device;
        break;
      case Cause::read_error:
        ++result.read_error;
        break;
      case Cause::correlated:
        ++result.correlated;
        break;
    }
  }
  set_interval(result);
  return result;
}

}  // namespace calpe::durability
