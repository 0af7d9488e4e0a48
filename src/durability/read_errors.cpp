// SPDX-License-Identifier: Apache-2.0
#include "durability/read_errors.hpp"

#include <algorithm>
#include <cmath>

#include "durability/probability.hpp"
#include "durability/rebuild_time.hpp"

namespace calpe::durability {

namespace {

constexpr double days_per_year = 365.25;
constexpr double bits_per_byte = 8;

double stripes_of(const Inputs& in) {
  return in.used_bytes() / in.shard_bytes;
}

void add_visits(ReadErrors& errors, double visits, double loss, double stripes) {
  errors.stripes_per_year += visits * stripes * loss;
  errors.events_per_year += visits * at_least_once(loss, stripes);
}

}  // namespace

double unreadable_shard(const Inputs& in) {
  const double read = at_least_once(in.read_errors_per_bit, bits_per_byte * in.shard_bytes);
  // Without scrubbing, errors accumulate for the whole mission.
  const double interval = in.scrub_days == 0 ? in.mission_years : in.scrub_days / days_per_year;
  const double latent = in.latent_errors_per_tb_year * in.shard_bytes / 1e12 * interval / 2;
  return std::min(1.0, read + latent);
}

double stripe_loss(const Scheme& scheme, unsigned down, double unreadable) {
  const unsigned others = scheme.shards() - down;
  double sum = 0;
  for (unsigned j = 1; j <= others; ++j)
    sum += binomial(others, j, unreadable) * scheme.newly_dead(down, down + j);
  return std::min(1.0, sum);
}

// State f of a group is entered V(f) times a year: V(1) = n rate. State f lasts T / f and goes
// further down with probability (n - f) rate T / f. At each entry, all stripes are read. A scrub
// also reads them, with nothing down.
ReadErrors read_errors(const Scheme& scheme, const Inputs& in) {
  const double unreadable = unreadable_shard(in);
  const double stripes = stripes_of(in);
  const double failures = in.failures_per_hour();
  ReadErrors errors;
  if (in.scrub_days > 0)
    add_visits(errors, days_per_year / in.scrub_days, stripe_loss(scheme, 0, unreadable), stripes);
  double visits = scheme.shards() * failures * hours_per_year;
  for (unsigned down = 1; down <= scheme.parity_shards; ++down) {
    const double alive = 1 - scheme.dead_fraction(down);
    add_visits(errors, visits * alive, stripe_loss(scheme, down, unreadable), stripes);
    const double reads = down < 2 ? scheme.single_reads : scheme.multiple_reads;
    const double stay = rebuild_time(in, reads).hours() / (in.is_repair_serial ? 1 : down);
    visits *= (scheme.shards() - down) * failures * in.batch_factor * stay;
  }
  return errors;
}

double survives_full_read(const Scheme& scheme, const Inputs& in) {
  const double unreadable = at_least_once(in.read_errors_per_bit, bits_per_byte * in.shard_bytes);
  return 1 - at_least_once(stripe_loss(scheme, 0, unreadable), stripes_of(in));
}

}  // namespace calpe::durability
