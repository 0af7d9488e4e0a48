// SPDX-License-Identifier: Apache-2.0
#include "durability/loss_chain.hpp"

#include <algorithm>
#include <cmath>

#include "base/assert.hpp"
#include "durability/probability.hpp"
#include "durability/rebuild_time.hpp"

namespace calpe::durability {

namespace {

constexpr std::size_t states_max = 2000;
constexpr double surely = 1 - 1e-15;
// Above this, 1 - exp(-t / MTTDL) is accurate: it is off by about one rebuild time in t.
constexpr double jumps_max = 1e6;
// Below this, uniformisation underflows, and P equals rate times time to all digits.
constexpr double log_rate_min = -550;

// Repairs in a pool share its bandwidth: i of them wait once, and take i times as long to transfer.
double rebuilds_per_hour(std::size_t down, const Inputs& in, const RebuildTime& time) {
  if (down == 0) return 0;
  const auto count = double(down);
  if (in.is_repair_serial) return 1 / time.hours();
  if (in.pool_devices == 0) return count / time.hours();
  return count / (time.waiting_hours + count * time.transfer_hours);
}

// Stripes are on n random devices of the pool: P[a stripe has more losses than it survives].
double dead_in_pool(const Scheme& scheme, std::uint64_t pool, std::size_t down) {
  const auto width = double(scheme.shards());
  const auto all = double(pool);
  const auto failed = double(down);
  double sum = 0;
  for (unsigned hit = 1; hit <= scheme.shards() && hit <= down; ++hit) {
    if (scheme.dead_fraction(hit) == 0 || width - hit > all - failed) continue;
    sum += scheme.dead_fraction(hit) *
           std::exp(log_choose(failed, hit) + log_choose(all - failed, width - hit) -
                    log_choose(all, width));
  }
  return std::min(sum, 1.0);
}

void add_state(LossChain& chain, const Inputs& in, double sound, const RebuildTime& time) {
  const std::size_t down = chain.up.size();
  const double faster = down == 0 ? 1 : in.batch_factor;
  chain.up.push_back(sound * in.failures_per_hour() * faster);
  chain.down.push_back(rebuilds_per_hour(down, in, time));
}

LossChain group_chain(const Scheme& scheme, const Inputs& in) {
  LossChain chain;
  for (unsigned down = 0; down <= scheme.parity_shards; ++down) {
    const double reads = down < 2 ? scheme.single_reads : scheme.multiple_reads;
    add_state(chain, in, double(scheme.shards() - down), rebuild_time(in, reads));
    chain.fatal.push_back(scheme.newly_dead(down, down + 1));
    chain.lost.push_back(1);  // every stripe has lost the same shards
  }
  return chain;
}

LossChain pool_chain(const Scheme& scheme, const Inputs& in) {
  const RebuildTime time = rebuild_time(in, scheme.single_reads);
  const double stripes =
      double(in.pool_devices) / scheme.shards() * in.used_bytes() / in.shard_bytes;
  LossChain chain;
  double log_survival = 0;  // ln P[no stripe is lost] with this many down
  while (chain.up.size() < std::min<std::uint64_t>(states_max, in.pool_devices)) {
    const std::size_t down = chain.up.size();
    add_state(chain, in, double(in.pool_devices - down), time);
    const double dead = dead_in_pool(scheme, in.pool_devices, down + 1);
    const double next = dead >= 1 ? log_zero : stripes * std::log1p(-dead);
    const double fatal = -std::expm1(std::min(0.0, next - log_survival));
    chain.fatal.push_back(fatal);
    chain.lost.push_back(std::max(dead, 1 / stripes));
    if (fatal > surely) break;
    log_survival = next;
  }
  chain.fatal.back() = 1;
  return chain;
}

}  // namespace

LossChain make_chain(const Scheme& scheme, const Inputs& in) {
  return in.pool_devices == 0 ? group_chain(scheme, in) : pool_chain(scheme, in);
}

// Eliminates states from the last one. K(i) is the rate of being lost from state i before returning
// to i-1:
//   K(i) = up fatal + up (1 - fatal) K(i+1) / (K(i+1) + down(i+1)).
// Data is lost at rate 1 / MTTDL, and MTTDL is the sum of the hours spent in each state:
//   hours(0) = 1 / K(0),  hours(i+1) = hours(i) up(i) (1 - fatal(i)) / (K(i+1) + down(i+1)).
// Example, 1+1 with 0.01 failures and 1 rebuild an hour: K(1) = 0.01, K(0) = 0.02 * 0.01 / 1.01;
// 5050 and 100 hours. The sum of 5150 equals (3 * 0.01 + 1) / (2 * 0.01^2).
ChainSolution solve(const LossChain& chain) {
  const std::size_t states = chain.up.size();
  CALPE_ASSERT(states > 0 && chain.fatal.back() == 1);
  std::vector<double> log_kill(states);
  std::vector<double> log_leave(states);  // K + down
  std::vector<double> log_climb(states);  // up (1 - fatal)
  for (std::size_t i = states; i-- > 0;) {
    const double log_up = std::log(chain.up[i]);
    log_climb[i] = log_up + std::log1p(-chain.fatal[i]);
    log_kill[i] = log_up + std::log(chain.fatal[i]);
    if (i + 1 < states && log_climb[i] != log_zero && log_kill[i + 1] != log_zero)
      log_kill[i] = log_add(log_kill[i], log_climb[i] + log_kill[i + 1] - log_leave[i + 1]);
    log_leave[i] = log_add(log_kill[i], std::log(chain.down[i]));
  }
  if (log_kill[0] == log_zero) return {log_zero, 0};
  double log_hours = -log_kill[0];
  double log_total = log_hours;
  double lost = 0;  // probabilities of being lost from each state; they add up to 1
  for (std::size_t i = 0; i < states; ++i) {
    if (i > 0) {
      log_hours += log_climb[i - 1] - log_leave[i];
      log_total = log_add(log_total, log_hours);
    }
    lost += std::exp(log_hours + std::log(chain.up[i]) + std::log(chain.fatal[i])) * chain.lost[i];
  }
  return {-log_total, lost};
}

double loss_probability(const LossChain& chain, double hours) {
  const double log_rate = solve(chain).log_loss_rate;
  double fastest = 0;
  for (std::size_t i = 0; i < chain.up.size(); ++i)
    fastest = std::max(fastest, chain.up[i] + chain.down[i]);
  const double jumps = fastest * hours;  // expected number
  if (log_rate < log_rate_min || jumps > jumps_max) return within(std::exp(log_rate), hours);

  // P = sum over j of P[Poisson(jumps) = j] * P[lost after j jumps]; all terms are positive.
  std::vector<double> chance(chain.up.size());
  std::vector<double> next(chain.up.size());
  chance[0] = 1;
  double lost = 0;
  double sum = 0;
  double weights = 0;
  const auto last = std::size_t(jumps + 12 * std::sqrt(jumps) + 60);
  for (std::size_t j = 0; j <= last; ++j) {
    const double weight =
        std::exp(double(j) * std::log(jumps) - jumps - std::lgamma(double(j) + 1));
    sum += weight * lost;
    weights += weight;
    std::fill(next.begin(), next.end(), 0.0);
    for (std::size_t i = 0; i < chance.size(); ++i) {
      const double up = chance[i] * chain.up[i] / fastest;
      const double down = chance[i] * chain.down[i] / fastest;
      next[i] += std::max(0.0, chance[i] - up - down);
      if (i > 0) next[i - 1] += down;
      lost += up * chain.fatal[i];
      if (i + 1 < chance.size()) next[i + 1] += up * (1 - chain.fatal[i]);
    }
    chance.swap(next);
  }
  return std::min(1.0, sum + std::max(0.0, 1 - weights) * lost);
}

}  // namespace calpe::durability
