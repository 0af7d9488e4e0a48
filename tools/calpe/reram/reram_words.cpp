// SPDX-License-Identifier: Apache-2.0
#include "calpe/reram/reram_words.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace calpe::tools {

namespace {

const Baseline* find(const ReramReport& report, std::string_view id) {
  const auto found = std::ranges::find(report.baselines, id, &Baseline::id);
  return found == report.baselines.end() || !found->rate ? nullptr : &*found;
}

// Baselines that the simulated hardware beats, or does not beat.
std::vector<std::string> listed(const ReramReport& report, bool is_beaten) {
  std::vector<std::string> names;
  for (const Baseline& baseline : report.baselines) {
    const std::optional<double> times = speed_up(report.run, baseline);
    if (times && (*times > 1) == is_beaten)
      names.push_back(fmt::format("{:.3g}x as fast as {}", *times, name_of(baseline)));
  }
  return names;
}

std::string comparison(const ReramReport& report) {
  const std::vector<std::string> beaten = listed(report, true);
  const std::vector<std::string> unbeaten = listed(report, false);
  const char* const between = beaten.empty() || unbeaten.empty() ? "" : "; but only ";
  return fmt::format("The simulated hardware is {}{}{}.", fmt::join(beaten, "; "), between,
                     fmt::join(unbeaten, "; "));
}

// The CPU rates are of one core, so name the number of SSDs.
std::string units_text(const ReramRun& run) {
  return fmt::format("XOR mode uses the ReRAM of {} SSDs at once, {:.1f} MB/s each.",
                     run.plan.ssd_count, run.rate * 1e-6 / static_cast<double>(run.plan.ssd_count));
}

std::string packets_lesson(const ReramReport& report) {
  const Baseline* const small = find(report, "jerasure-packet-8");
  const Baseline* const good = find(report, "jerasure-packet-2048");
  std::string text = "Packets of 8 bytes slowed down the paper's baseline";
  if (small != nullptr && good != nullptr) {
    text += fmt::format(
        ": here Jerasure with cauchy_good and packets of 2048 bytes is {:.3g}x as fast as with "
        "cauchy_orig and packets of 8",
        *good->rate / *small->rate);
  }
  return text + ".";
}

}  // namespace

std::string counted(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string_view mode_of(const ReramRun& run) {
  if (run.plan.is_xor_mode) return "xor";
  return run.plan.mapping->is_combined() ? "combination" : "matrix";
}

std::string mode_text(const ReramRun& run) {
  if (run.plan.is_xor_mode) {
    return fmt::format("XOR mode over {}, {} added", counted(run.plan.ssd_count, "SSD"),
                       counted(run.reads.size(), "row"));
  }
  const reram::Mapping& mapping = *run.plan.mapping;
  const std::string size =
      fmt::format("{} inputs x {} outputs", mapping.inputs(), mapping.outputs());
  const std::string copies =
      mapping.groups == 1 ? "1 copy" : fmt::format("{} copies", mapping.groups);
  if (!mapping.is_combined()) return fmt::format("matrix of {} in one crossbar, {}", size, copies);
  return fmt::format("combination of {} x {} crossbars, {}; matrix of {}, {}",
                     mapping.options.grid.rows, mapping.options.grid.columns,
                     name_of(mapping.options.combine), size, copies);
}

std::string work_text(const ReramRun& run) {
  const std::string code = fmt::format("{}+{}", run.spec.data_shards, run.spec.parity_shards);
  if (!run.is_decode) return "encode " + code;
  return fmt::format("rebuild shard{} {} of {}", run.writes.size() == 1 ? "" : "s",
                     fmt::join(run.writes, ", "), code);
}

std::vector<NamedParameter> list_parameters(const reram::Parameters& parameters) {
  std::vector<NamedParameter> list;
  std::istringstream lines(to_text(parameters));  // "read_ns = 36.336 fit # ..."
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    NamedParameter parameter;
    std::string equals;
    if (words >> parameter.name >> equals >> parameter.value >> parameter.origin)
      list.push_back(std::move(parameter));
  }
  return list;
}

std::optional<WearRate> wear_rate(const ReramReport& report) {
  if (!report.run.is_wearing()) return std::nullopt;
  const double rate = static_cast<double>(report.run.wear.most) / report.run.simulated_seconds;
  return WearRate{rate, report.request.parameters.endurance.value / rate};
}

std::optional<double> speed_up(const ReramRun& run, const Baseline& baseline) {
  if (!baseline.rate) return std::nullopt;
  return run.rate / *baseline.rate;
}

std::vector<std::string> warnings_of(const ReramReport& report) {
  const ReramRun& run = report.run;
  std::vector<std::string> warnings;
  const auto adc_bits = static_cast<unsigned>(report.request.parameters.adc_bits.value);
  // Does not apply if all rows are data.
  const auto or_fewer_rows = [&](std::string_view before, std::size_t rows) {
    return run.plan.is_xor_mode || rows == 0 ? std::string()
                                             : fmt::format("{}--active-rows {}", before, rows);
  };
  if (run.adc_bits_needed > adc_bits) {
    warnings.push_back(
        fmt::format("converters of {} bits cannot read every sum: {} bits are needed, and {} sums "
                    "were clipped; "
                    "use --set adc_bits={}{}",
                    adc_bits, run.adc_bits_needed, run.counters.clipped_sums, run.adc_bits_needed,
                    or_fewer_rows(" or ", (std::size_t{1} << adc_bits) - 1)));
  }
  if (report.request.parameters.is_noisy() && run.errors.rows_driven > run.errors.rows_for_target) {
    warnings.push_back(
        fmt::format("{} rows are driven at once, but at most {} are possible for an error rate of "
                    "{:.3g}{}",
                    run.errors.rows_driven, run.errors.rows_for_target, report.request.target_rate,
                    or_fewer_rows("; use ", run.errors.rows_for_target)));
  }
  return warnings;
}

std::string calibration_text(const reram::Parameters& parameters) {
  std::vector<std::string> fitted;
  for (const NamedParameter& parameter : list_parameters(parameters)) {
    if (parameter.origin == "fit") fitted.push_back(parameter.name);
  }
  if (fitted.empty()) {
    return fmt::format(
        "No parameter of {} is fitted to the paper's results; no such hardware exists.",
        parameters.name);
  }
  return fmt::format(
      "{} of {} {} calibrated to the paper's own result (19x at 10+2, +72 % from k = 10 to 40), "
      "so the speed-up over the paper's CPU is no evidence.",
      fmt::join(fitted, " and "), parameters.name, fitted.size() == 1 ? "is" : "are");
}

std::vector<std::string> conclusions_of(const ReramReport& report) {
  std::vector<std::string> sentences = {comparison(report)};
  if (report.run.plan.is_xor_mode) sentences.push_back(units_text(report.run));
  if (report.run.errors.wrong != 0) {
    sentences.emplace_back(
        "Some bits are wrong, so the result is useless without error correction.");
  }
  sentences.push_back(packets_lesson(report));
  sentences.push_back(calibration_text(report.request.parameters));
  return sentences;
}

}  // namespace calpe::tools
