// SPDX-License-Identifier: Apache-2.0
#include "calpe/durability/durability_report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>

#include "calpe/durability/durability_number.hpp"
#include "durability/rebuild_time.hpp"

namespace calpe::tools {

namespace {

constexpr std::size_t columns = 100;

template <class... Parts>
void line(std::string_view name, fmt::format_string<Parts...> format, Parts&&... parts) {
  fmt::print("  {:<22} {}\n", name, fmt::format(format, std::forward<Parts>(parts)...));
}

// Wraps at spaces and indents the following lines.
void paragraph(const std::string& text) {
  std::istringstream words(text);
  std::string row;
  for (std::string word; words >> word;) {
    if (!row.empty() && row.size() + 1 + word.size() > columns) {
      fmt::print("{}\n", row);
      row = "  ";
    } else if (!row.empty()) {
      row += ' ';
    }
    row += word;
  }
  fmt::print("{}\n", row);
}

std::string rebuild_text(const durability::Estimate& e) {
  const durability::RebuildTime& time = e.rebuild;
  if (time.bottleneck == durability::Bottleneck::given)
    return fmt::format("{:.3g} h, given", time.hours());
  return fmt::format("{:.3g} h: {:.3g} h before it starts, {:.3g} h limited by {}", time.hours(),
                     time.waiting_hours, time.transfer_hours, name_of(time.bottleneck));
}

std::string shared_text(const durability::Inputs& in) {
  if (in.shocks_per_year == 0 && in.batch_factor == 1) return "not counted";
  std::string out;
  if (in.shocks_per_year > 0) {
    out = fmt::format("{:g} shocks a year per group, each loses a device with {:.3g} % probability",
                      in.shocks_per_year, 100 * in.shock_hit);
  }
  if (in.batch_factor > 1) {
    out +=
        fmt::format("{}failures x{:g} while one is down", out.empty() ? "" : "; ", in.batch_factor);
  }
  return out;
}

std::string place_text(const DurabilityRow& row) {
  const durability::Inputs& in = row.inputs;
  const std::string size =
      fmt::format("{} each, {:.3g} % full", bytes_text(in.capacity_bytes), 100 * in.fill);
  const bool is_pool = in.pool_devices != 0;
  const double unit =
      is_pool ? static_cast<double>(in.pool_devices) : static_cast<double>(row.scheme.shards());
  if (row.estimate.groups == 1)
    return fmt::format("one {} of {:.0f} devices, {}", is_pool ? "pool" : "group", unit, size);
  return fmt::format("{:.0f} {} of {:.0f} devices, {}; {} usable", row.estimate.groups,
                     is_pool ? "pools" : "groups", unit, size,
                     bytes_text(row.estimate.usable_bytes));
}

void print_assumptions(const DurabilityReport& report, const DurabilityRow& row) {
  const durability::Inputs& in = row.inputs;
  const bool is_chain = in.model == durability::Model::chain;
  fmt::print("Durability of {} for {:g} years, by the {} model\n",
             report.request.is_comparison ? "several codes" : row.scheme.name, in.mission_years,
             is_chain ? "chain" : "window");
  fmt::print("\nAssumptions\n");
  if (report.request.is_comparison) {
    const std::string pools =
        in.pool_devices == 0 ? "" : fmt::format("pools of {}, ", in.pool_devices);
    line("devices", "{}, {}{} each, {:.3g} % full",
         in.devices == 0 ? "one group of each code" : fmt::format("{}", in.devices), pools,
         bytes_text(in.capacity_bytes), 100 * in.fill);
  } else {
    line("devices", "{}", place_text(row));
  }
  line("failures", "{}", report.request.failures);
  if (!report.request.is_comparison && row.scheme.parity_shards > 0) {
    line("rebuild time", "{}{}", rebuild_text(row.estimate),
         in.is_repair_serial ? "; one rebuild at a time" : "");
  }
  line("read errors", "{:g} per bit{}, shards of {:.6g} KiB, {}", in.read_errors_per_bit,
       in.latent_errors_per_tb_year == 0
           ? ""
           : fmt::format(" and {:g} latent per TB and year", in.latent_errors_per_tb_year),
       in.shard_bytes / 1024,
       in.scrub_days == 0 ? "never scrubbed"
                          : fmt::format("scrubbed every {:g} days", in.scrub_days));
  line("shared causes", "{}", shared_text(in));
  if (!row.decode_origin.empty() && !report.request.is_comparison)
    line("decode rate", "{}", row.decode_origin);
}

void print_losses(const DurabilityRow& row) {
  const durability::Estimate& e = row.estimate;
  fmt::print("\n{:<38} {:>14} {:>14}\n", "Probability of loss", "in a year",
             fmt::format("in {:g} years", row.inputs.mission_years));
  const auto print = [](std::string_view name, double year, double mission) {
    fmt::print("  {:<36} {:>14} {:>14}\n", name, probability_text(year), probability_text(mission));
  };
  print("device failures", e.year.device, e.mission.device);
  print("read errors (single stripes)", e.year.read_error, e.mission.read_error);
  print("shared causes", e.year.correlated, e.mission.correlated);
  print("any cause", e.year.any, e.mission.any);
  print("  per rebuild instead of per stripe", e.year.any_clustered, e.mission.any_clustered);
  line("durability", "{}", nines_text(e.year.any));
  line("expected loss", "{:.3g} bytes of {} in {:g} years (NOMDL {:.2e})", e.lost_bytes,
       bytes_text(e.usable_bytes), row.inputs.mission_years, e.nomdl);
  if (row.scheme.parity_shards == 0)
    line("full read", "no error with {:.2f} % probability", 100 * e.full_read);
}

void print_code(const DurabilityRow& row) {
  fmt::print("\nCode\n");
  line("stored", "{:.3f} bytes per usable byte, {:.1f} % usable", row.scheme.overhead(),
       100 / row.scheme.overhead());
  line("survives", "{}", survives_text(row.scheme));
  if (row.scheme.parity_shards > 0)
    line("one rebuild reads", "{:.3g} shards", row.scheme.single_reads);
}

void print_simulations(const DurabilityRow& row, std::uint64_t seed) {
  fmt::print("\nSimulated\n");
  const durability::Sampled& sampled = row.sampled;
  if (sampled.cycles == 0) {
    line("device failures", "not sampled");
  } else if (sampled.losses_per_year == 0) {
    line("device failures", "no loss in {} cycles", sampled.cycles);
  } else {
    // Show the ratio as well: the value may be below what is printed. --json has it.
    line("device failures", "{} losses a year; ratio to the chain {:.4f} (95 %: {:.4f} to {:.4f})",
         probability_text(sampled.losses_per_year), sampled.losses_per_year / row.chain_losses,
         sampled.low / row.chain_losses, sampled.high / row.chain_losses);
    line("", "importance sampling, {} cycles, seed {}", sampled.cycles, seed);
  }
  if (!row.missions) return;
  const durability::MissionResult& m = *row.missions;
  line("missions of one group", "{} of {} lost data: {} (95 %: {} to {})", m.losses(), m.missions,
       probability_text(m.probability), probability_text(m.low), probability_text(m.high));
  line("", "first cause: devices {}, read errors {}, shared causes {}", m.device, m.read_error,
       m.correlated);
}

void print_sensitivities(const DurabilityRow& row) {
  fmt::print("\n{:<54} {:>14}\n", "Sensitivity", "loss in a year");
  for (const durability::Sensitivity& each : row.sensitivities)
    fmt::print("  {:<52} {:>14}\n", each.change, probability_text(each.year.any));
}

void print_target(const DurabilityReport& report, const DurabilityRow& row) {
  fmt::print("\n");
  const std::string goal = fmt::format("{:g} nines need", report.request.target_nines);
  if (row.smallest) {
    line(goal, "{}: m = {}, {:.3f} bytes per usable byte", row.smallest->name,
         row.smallest->parity_shards, row.smallest->overhead());
  } else {
    line(goal, "more than {} parity shards, or more than parity alone; see Sensitivity",
         durability::parity_searched_max);
  }
}

void print_traffic_row(const DurabilityReport& report, const DurabilityRow& row) {
  const double nodes = report.request.nodes;
  const double per_day = row.traffic.bytes_per_day();
  fmt::print("  {:<20} {:>10.3g} {:>12} {:>12} {:>14}\n", row.scheme.name, row.scheme.single_reads,
             bytes_text(row.traffic.read_bytes_per_day), bytes_text(per_day),
             nodes == 0 ? "-" : bytes_text(per_day / 86400 / nodes) + "/s");
}

void print_traffic(const DurabilityReport& report, const DurabilityRow& row) {
  fmt::print("\nRepair traffic: {:.3g} device failures a day\n", row.traffic.failures_per_day);
  fmt::print("  {:<20} {:>10} {:>12} {:>12} {:>14}\n", "CODE", "READS", "READ/DAY", "MOVED/DAY",
             "PER NODE");
  print_traffic_row(report, row);
  if (report.counterpart) print_traffic_row(report, *report.counterpart);
}

void print_mttdl(const DurabilityRow& row) {
  if (row.estimate.device_losses == 0) {
    line("MTTDL (devices)", "infinite");
  } else {
    line("MTTDL (devices)", "{:.4g} years", 1 / row.estimate.device_losses);
  }
  paragraph(
      "WARNING: a mean time to data loss of millions of years says nothing about the first ten; "
      "compare the probabilities over the mission and NOMDL instead.");
}

void print_comparison(const DurabilityReport& report) {
  const double years = report.rows.front().inputs.mission_years;
  std::size_t width = 8;
  for (const DurabilityRow& row : report.rows)
    width = std::max(width, survives_text(row.scheme).size());
  fmt::print("\n{:<13} {:>6}  {:<{}} {:>8} {:>9} {:>9} {:>6} {:>9} {:>8}\n", "CODE", "STORED",
             "SURVIVES", width, "REBUILD", "LOSS/YEAR", fmt::format("IN {:g} Y", years), "NINES",
             "NOMDL", "MOVED *");
  bool is_beyond = false;
  for (const DurabilityRow& row : report.rows) {
    const durability::Estimate& e = row.estimate;
    const bool is_high = e.year.any < 1e-11;
    is_beyond = is_beyond || is_high;
    fmt::print("{:<13} {:>6.3f}  {:<{}} {:>6.3g} h {:>9} {:>9} {:>6} {:>9.1e} {:>8}\n",
               row.scheme.name, row.scheme.overhead(), survives_text(row.scheme), width,
               e.rebuild.hours(), probability_text(e.year.any), probability_text(e.mission.any),
               is_high ? "11+ **" : fmt::format("{:.1f}", e.nines), e.nomdl,
               bytes_text(row.traffic.bytes_per_day() * 1e15 / e.usable_bytes));
  }
  fmt::print("*  bytes moved by rebuilds, per day and usable PB\n");
  if (is_beyond) fmt::print("** 11 nines or more, device model only\n");
}

void print_single(const DurabilityReport& report) {
  const DurabilityRow& row = report.rows.front();
  print_losses(row);
  if (report.request.has_mttdl) print_mttdl(row);
  print_code(row);
  print_simulations(row, report.request.seed);
  print_sensitivities(row);
  print_target(report, row);
  if (row.scheme.parity_shards > 0) print_traffic(report, row);
}

}  // namespace

void print_table(const DurabilityReport& report) {
  print_assumptions(report, report.rows.front());
  if (report.request.is_comparison) {
    print_comparison(report);
  } else {
    print_single(report);
  }
  fmt::print("\n");
  std::vector<std::string> said;
  for (const DurabilityRow& row : report.rows) {
    for (const std::string& warning : warnings_of(report, row)) {
      if (std::find(said.begin(), said.end(), warning) != said.end()) continue;
      said.push_back(warning);
      paragraph("WARNING: " + warning);
    }
  }
  for (const std::string& path : report.plots)
    fmt::print("wrote {}\n", path);
}

}  // namespace calpe::tools
