// SPDX-License-Identifier: Apache-2.0
#include "durability/inputs.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::durability {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

Error out_of_range(std::string_view name, double value, std::string_view expected) {
  return invalid(name, " is ", number_text(value), "; expected ", expected);
}

Status positive(std::string_view name, double value, std::string_view unit) {
  if (value > 0 && std::isfinite(value)) return Done{};
  return out_of_range(name, value, text("more than 0 ", unit));
}

Status not_negative(std::string_view name, double value) {
  if (value >= 0 && std::isfinite(value)) return Done{};
  return out_of_range(name, value, "0 or more");
}

Status check_bandwidths(const Inputs& in) {
  constexpr std::string_view unit = "bytes per second";
  CALPE_CHECK(positive("read bandwidth", in.read_bytes_per_s, unit));
  CALPE_CHECK(positive("write bandwidth", in.write_bytes_per_s, unit));
  if (in.network_bytes_per_s)
    CALPE_CHECK(positive("network bandwidth", *in.network_bytes_per_s, unit));
  if (in.decode_bytes_per_s) CALPE_CHECK(positive("decode rate", *in.decode_bytes_per_s, unit));
  if (!(in.rebuild_share > 0 && in.rebuild_share <= 1))
    return out_of_range("rebuild share", in.rebuild_share, "more than 0, at most 1");
  return Done{};
}

Status check_times(const Inputs& in) {
  CALPE_CHECK(not_negative("detection time", in.detect_hours));
  CALPE_CHECK(not_negative("replacement time", in.replace_hours));
  CALPE_CHECK(not_negative("scrub interval", in.scrub_days));
  if (in.repair_hours) CALPE_CHECK(positive("repair time", *in.repair_hours, "hours"));
  return positive("mission", in.mission_years, "years");
}

Status check_errors(const Inputs& in) {
  if (!(in.read_errors_per_bit >= 0 && in.read_errors_per_bit < 1))
    return out_of_range("read error rate", in.read_errors_per_bit, "0 or more, below 1");
  CALPE_CHECK(not_negative("latent error rate", in.latent_errors_per_tb_year));
  CALPE_CHECK(not_negative("shock rate", in.shocks_per_year));
  if (!(in.shock_hit >= 0 && in.shock_hit <= 1))
    return out_of_range("shock hit probability", in.shock_hit, "0 to 1");
  if (!(in.batch_factor >= 1 && std::isfinite(in.batch_factor)))
    return out_of_range("batch factor", in.batch_factor, "1 or more");
  return Done{};
}

Status check_sizes(const Inputs& in, const Scheme& scheme) {
  CALPE_CHECK(positive("capacity", in.capacity_bytes, "bytes"));
  if (!(in.fill > 0 && in.fill <= 1))
    return out_of_range("fill", in.fill, "more than 0, at most 1");
  CALPE_CHECK(positive("shard length", in.shard_bytes, "bytes"));
  if (in.shard_bytes > in.used_bytes()) {
    return out_of_range("shard length", in.shard_bytes,
                        text("at most the used bytes of a device, ", number_text(in.used_bytes())));
  }
  const std::uint64_t needed = in.pool_devices == 0 ? scheme.shards() : in.pool_devices;
  if (in.pool_devices != 0 && in.pool_devices < scheme.shards()) {
    return invalid("pool is ", in.pool_devices, " devices; expected at least the ", scheme.shards(),
                   " shards of ", scheme.name);
  }
  if (in.devices != 0 && in.devices < needed) {
    return invalid("number of devices is ", in.devices, "; expected at least ", needed, ", one ",
                   in.pool_devices == 0 ? "group" : "pool", " of ", scheme.name);
  }
  return Done{};
}

}  // namespace

std::string number_text(double value) {
  std::array<char, 32> buffer = {};
  std::snprintf(buffer.data(), buffer.size(), "%g", value);
  return buffer.data();
}

// The renewal equation M(t) = F(t) + integral of M(t - x) dF(x) gives the expected failures of one
// slot whose device is replaced. Solved in steps, with M linear within each.
double DeviceLife::mean_rate(double hours) const {
  if (std::isinf(scale_hours)) return 0;
  if (is_exponential()) return 1 / scale_hours;
  constexpr std::size_t steps = 400;
  std::vector<double> fails(steps + 1);  // F: probability of failure by then
  for (std::size_t i = 0; i <= steps; ++i)
    fails[i] = -std::expm1(-std::pow(hours * double(i) / steps / scale_hours, shape));
  std::vector<double> expected(steps + 1);  // M: expected failures
  for (std::size_t i = 1; i <= steps; ++i) {
    double sum = fails[i] + 0.5 * expected[i - 1] * fails[1];
    for (std::size_t j = 2; j <= i; ++j)
      sum += 0.5 * (expected[i - j] + expected[i - j + 1]) * (fails[j] - fails[j - 1]);
    expected[i] = sum / (1 - 0.5 * fails[1]);
  }
  return expected[steps] / hours;
}

Result<DeviceLife> life_from_afr(double afr) {
  if (!(afr >= 0 && afr < 1)) {
    return out_of_range("annual failure rate", afr,
                        "0 or more, below 1, such as 1.5% or 0.015 (1.5 is 150 %)");
  }
  return DeviceLife{1, afr == 0 ? infinite : -hours_per_year / std::log1p(-afr)};
}

Result<DeviceLife> life_from_rate(double failures_per_year) {
  CALPE_CHECK(not_negative("failures per year", failures_per_year));
  return DeviceLife{1, failures_per_year == 0 ? infinite : hours_per_year / failures_per_year};
}

Result<DeviceLife> life_from_mttf(double hours) {
  CALPE_CHECK(positive("mean time to failure", hours, "hours"));
  return DeviceLife{1, hours};
}

Result<DeviceLife> life_from_weibull(double shape, double scale_hours) {
  CALPE_CHECK(positive("weibull shape", shape, "(1 is exponential)"));
  CALPE_CHECK(positive("weibull scale", scale_hours, "hours"));
  return DeviceLife{shape, scale_hours};
}

Status check(const Inputs& inputs, const Scheme& scheme) {
  CALPE_CHECK(check_sizes(inputs, scheme));
  CALPE_CHECK(check_bandwidths(inputs));
  CALPE_CHECK(check_times(inputs));
  return check_errors(inputs);
}

}  // namespace calpe::durability
