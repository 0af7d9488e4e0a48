// SPDX-License-Identifier: Apache-2.0
#include "calpe/reram/reram_report.hpp"

#include <fmt/format.h>
#include <sstream>

#include "reram/energy.hpp"
#include "reram/paper.hpp"

namespace calpe::tools {

namespace {

constexpr std::size_t columns = 100;

void heading(std::string_view text) {
  fmt::print("\n{}\n", text);
}

template <class... Parts>
void line(std::string_view name, fmt::format_string<Parts...> format, Parts&&... parts) {
  fmt::print("  {:<22} {}\n", name, fmt::format(format, std::forward<Parts>(parts)...));
}

std::string mb_per_s(double rate) {
  return fmt::format("{:.1f} MB/s", rate * 1e-6);
}

// Chooses a readable unit.
std::string duration_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.1f} minutes", seconds / 60);
  if (seconds < 2 * 86400) return fmt::format("{:.1f} hours", seconds / 3600);
  if (seconds < 2 * 365.25 * 86400) return fmt::format("{:.1f} days", seconds / 86400);
  return fmt::format("{:.3g} years", seconds / (365.25 * 86400));
}

// Wraps at spaces.
void paragraph(std::string_view indent, const std::string& text) {
  std::istringstream words(text);
  std::string row(indent);
  for (std::string word; words >> word;) {
    if (row.size() > indent.size() && row.size() + 1 + word.size() > columns) {
      fmt::print("{}\n", row);
      row = indent;
    }
    if (row.size() > indent.size()) row += ' ';
    row += word;
  }
  fmt::print("{}\n", row);
}

void print_code(const ReramReport& report) {
  const ReramRun& run = report.run;
  const reram::Parameters& p = report.request.parameters;
  fmt::print("Re-RAID, simulated: {}, {}\n", work_text(run), p.name);
  line("code", "hybrid, w = {}, packets of {} bytes, {} stripes of {} bytes", run.spec.word_bits,
       run.spec.packet_bytes, run.stripes, run.bytes_read / run.stripes);
  line("mode", "{}", mode_text(run));
  line("geometry", "{} banks x {} crossbars of {} x {} cells", p.banks.value, p.subarrays.value,
       p.rows.value, p.columns.value);
  line("converter", "{} bits needed, {} available", run.adc_bits_needed, p.adc_bits.value);
}

void print_counts(const ReramRun& run) {
  const reram::Counters& counters = run.counters;
  const auto activations = static_cast<double>(counters.activations);
  heading("Counts");
  line("activations", "{}: {:g} per stripe, {:g} bytes read per activation", counters.activations,
       activations / static_cast<double>(run.stripes),
       static_cast<double>(run.bytes_read) / activations);
  line("row writes", "{}: {} of the matrix, {} of data, {} of partial results",
       counters.row_writes(), counters.matrix_row_writes, counters.data_row_writes,
       counters.partial_row_writes);
  line("conversions", "{}, largest sum {}, {} clipped", counters.adc_conversions,
       counters.largest_sum, counters.clipped_sums);
  line("XORed outside", "{} bits", counters.combined_bits);
  line("bytes moved", "{} in, {} out", counters.bytes_in, counters.bytes_out);
}

void print_time(const ReramReport& report) {
  const ReramRun& run = report.run;
  heading("Time, energy, wear");
  line("simulated time", "{}", duration_text(run.simulated_seconds));
  line("rate", "{} of the {} read; {} in steady state", mb_per_s(run.rate),
       counted(run.reads.size(), "shard"), mb_per_s(run.steady_rate));
  if (run.is_decode)
    line("rebuilt", "{}", mb_per_s(static_cast<double>(run.bytes_written) / run.simulated_seconds));
  if (run.joules) {
    line("energy", "{:.3g} J, {:.3g} pJ per byte read; a lower bound: cells only", *run.joules,
         *run.joules * 1e12 / static_cast<double>(run.bytes_read));
  } else {
    line("energy", "{}", reram::energy_not_modelled);
  }
  const std::optional<WearRate> rate = wear_rate(report);
  if (rate) {
    line("most written row", "written {}, {:.3g} per second; reaches {:g} writes in {}",
         counted(run.wear.most, "time"), rate->writes_per_second,
         report.request.parameters.endurance.value, duration_text(rate->seconds_to_endurance));
  } else {
    line("most written row", "written {}, only to map the matrix", counted(run.wear.most, "time"));
  }
}

void print_errors(const ReramReport& report) {
  const ReramErrors& errors = report.run.errors;
  if (!report.request.parameters.is_noisy()) {
    heading(errors.wrong == 0 ? "All bytes match the CPU result."
                              : "WRONG BYTES: the result differs from the CPU.");
    return;
  }
  heading("Errors");
  line("wrong bits", "{} of {}: {:.3g}", errors.wrong, errors.bits,
       static_cast<double>(errors.wrong) / static_cast<double>(errors.bits));
  if (errors.closed_form) {
    line("closed form", "{:.3g}, without stuck cells", *errors.closed_form);
  } else {
    line("closed form", "none: bits are computed in several parts");
  }
  line("rows active at once", "at most {}; the limit is {} for an error rate of {:.3g}",
       errors.rows_driven, errors.rows_for_target, report.request.target_rate);
}

void print_baselines(const ReramReport& report) {
  heading(
      fmt::format("Speed-up over CPUs (best rate measured here, median in brackets; shards of {} "
                  "KiB in cache, no data movement on either side)",
                  baseline_shard_bytes(report.run.spec) >> 10U));
  for (const Baseline& baseline : report.baselines) {
    const std::optional<double> times = speed_up(report.run, baseline);
    const std::string factor = times ? fmt::format("{:.3g}x", *times) : "-";
    const std::string rate = baseline.rate ? mb_per_s(*baseline.rate) : "-";
    const std::string median =
        baseline.median_rate ? fmt::format("({:.1f})", *baseline.median_rate * 1e-6) : "";
    fmt::print("  {:>8} {:>15} {:>11}  {}\n", factor, rate, median, name_of(baseline));
    if (!baseline.problem.empty()) fmt::print("{:40}{}\n", "", baseline.problem);
  }
}

void print_claims() {
  heading("The paper's claims");
  for (const reram::PaperClaim& claim : reram::paper_claims())
    paragraph("  ", fmt::format("{}: {}. {}", claim.what, claim.figure, claim.standing));
}

void print_parameters(const reram::Parameters& parameters) {
  heading("Parameters by origin (--print-parameters prints them as a file)");
  const std::vector<NamedParameter> list = list_parameters(parameters);
  for (const std::string_view origin : {"paper", "nvsim", "fit", "user"}) {
    std::string values;
    for (const NamedParameter& each : list) {
      if (each.origin != origin) continue;
      values += fmt::format("{}{} {:g}", values.empty() ? "" : ", ", each.name, each.value);
    }
    if (!values.empty()) paragraph("  ", fmt::format("{}: {}", origin, values));
  }
}

}  // namespace

void print_table(const ReramReport& report) {
  print_code(report);
  print_counts(report.run);
  print_time(report);
  print_errors(report);
  print_baselines(report);
  heading("Conclusion");
  for (const std::string& sentence : conclusions_of(report))
    paragraph("  ", sentence);
  print_claims();
  print_parameters(report.request.parameters);
  for (const std::string& warning : warnings_of(report))
    paragraph("", "WARNING: " + warning);
  for (const std::string& path : report.plots)
    fmt::print("wrote {}\n", path);
  fmt::print("\nsimulated in {:.1f} s\n", report.run.wall_seconds);
}

}  // namespace calpe::tools
