// SPDX-License-Identifier: Apache-2.0
#include "calpe/report/report_summary.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace calpe::tools {

namespace {

// Smaller differences between profiles or devices are not reported.
constexpr double notable = 1.05;
constexpr double usual_bytes = 65536;

const Json* find_row(const Json& rows, const std::string& shape, const std::string& operation,
                     double shard_bytes) {
  for (const Json& row : rows) {
    if (shape_of(row) == shape && text_of(row, "operation") == operation &&
        number_of(row, "shard_bytes") == shard_bytes)
      return &row;
  }
  return nullptr;
}

std::vector<std::string> shapes_in(const Json& rows) {
  std::vector<std::string> shapes;
  for (const Json& row : rows) {
    if (text_of(row, "operation") == "plan") continue;
    if (std::find(shapes.begin(), shapes.end(), shape_of(row)) == shapes.end())
      shapes.push_back(shape_of(row));
  }
  return shapes;
}

// "1.8x ISA-L 2.30", "6.1x Jerasure 2.0"; without names where the context has them.
std::vector<std::string> against_peers(const Json& run, const Json& row, bool with_names) {
  std::vector<std::string> parts;
  for (const std::string& peer : peers_of(run)) {
    const double ratio = number_of(row, "ratio_" + peer);
    if (ratio <= 0) continue;
    parts.push_back(fmt::format("{:.2g}x", ratio));
    if (with_names) parts.back() += " " + peer_title(run, peer);
  }
  return parts;
}

std::string say_path(const Json& run) {
  for (const Json& row : rows_of(run, "")) {
    if (text_of(row, "operation") != "encode") continue;
    return fmt::format("Use {}. Rates are in GB/s of data on one core{}.", text_of(row, "path"),
                       peers_of(run).empty() ? "" : "; 2x means twice the rate of that library");
  }
  return {};
}

// Names the fastest profile of each shape if it is not the default.
std::string say_profiles(const Json& run) {
  std::vector<std::string> usual_is_best;
  std::string text;
  for (const std::string& shape : shapes_in(rows_of(run, "profiles"))) {
    const Json* best = nullptr;
    const Json* usual = nullptr;
    for (const Json& row : rows_of(run, "profiles")) {
      if (shape_of(row) != shape || text_of(row, "operation") != "encode") continue;
      if (text_of(row, "profile") == "default") usual = &row;
      if (best == nullptr || number_of(row, "gb_per_s") > number_of(*best, "gb_per_s")) best = &row;
    }
    if (best == nullptr || usual == nullptr) continue;
    const double gain = number_of(*best, "gb_per_s") / number_of(*usual, "gb_per_s");
    if (best == usual || gain < notable) {
      usual_is_best.push_back(shape);
      continue;
    }
    text += fmt::format(
        " For {}, profile {} encodes {:.2g} times as fast at 64 KiB ({} GB/s on {}), if its layout "
        "suits you.",
        shape, text_of(*best, "profile"), gain, rate_text(number_of(*best, "gb_per_s")),
        text_of(*best, "path"));
  }
  if (!usual_is_best.empty()) {
    text = fmt::format(" default is as fast as any other for {}.{}", fmt::join(usual_is_best, ", "),
                       text);
  }
  return text.empty() ? text : "Profiles:" + text;
}

std::string say_shape(const Json& run, const std::string& shape) {
  const Json& rows = rows_of(run, "");
  // Prefer the usual shard length; if it was not measured, take the fastest row.
  const Json* best = find_row(rows, shape, "encode", usual_bytes);
  for (const Json& row : rows) {
    if (shape_of(row) != shape || text_of(row, "operation") != "encode") continue;
    if (best == nullptr || (number_of(*best, "shard_bytes") != usual_bytes &&
                            number_of(row, "gb_per_s") > number_of(*best, "gb_per_s")))
      best = &row;
  }
  if (best == nullptr) return {};
  const double length = number_of(*best, "shard_bytes");
  std::vector<std::string> compared = {
      fmt::format("{:.0f} % of the memory limit", 100 * number_of(*best, "fraction_of_roof"))};
  for (std::string& part : against_peers(run, *best, true))
    compared.push_back(std::move(part));
  std::string sentence =
      fmt::format("{}, shards of {}: encodes at {} ({})", shape, length_text(length),
                  rate_text(number_of(*best, "gb_per_s")), fmt::join(compared, ", "));
  if (const Json* decode = find_row(rows, shape, "decode", length)) {
    const std::vector<std::string> parts = against_peers(run, *decode, false);
    sentence += fmt::format(", rebuilds {} lost shards at {}{}", number_of(*decode, "lost_shards"),
                            rate_text(number_of(*decode, "gb_per_s")),
                            parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", ")));
  }
  return sentence + ".";
}

// Counts the comparisons in which another library is faster, and names the worst.
std::string say_slower(const Json& run) {
  unsigned compared = 0;
  unsigned behind = 0;
  double lowest = 1;
  std::string worst;
  for (const Json& row : rows_of(run, "")) {
    for (const std::string& peer : peers_of(run)) {
      const double ratio = number_of(row, "ratio_" + peer);
      if (ratio <= 0) continue;
      ++compared;
      if (ratio >= 1) continue;
      ++behind;
      if (ratio >= lowest) continue;
      lowest = ratio;
      const double length = number_of(row, "shard_bytes");  // 0 for a plan
      worst =
          fmt::format("{} {}{} at {:.3f}x {}", text_of(row, "operation"), shape_of(row),
                      length > 0 ? " " + length_text(length) : "", ratio, peer_title(run, peer));
    }
  }
  if (peers_of(run).empty())
    return "No other library was measured; use --peer isal --peer jerasure.";
  return fmt::format("Another library is faster in {} of {} comparisons{}.", behind, compared,
                     worst.empty() ? "" : "; worst: " + worst);
}

std::string say_length(const Json& run) {
  std::map<double, double> rates;
  const Json& rows = rows_of(run, "over_bytes");
  if (rows.empty()) return {};
  const std::string shape = shape_of(rows.front());
  double best = 0;
  for (const Json& row : rows) {
    if (shape_of(row) != shape) continue;
    rates[number_of(row, "shard_bytes")] = number_of(row, "gb_per_s_median");
    best = std::max(best, number_of(row, "gb_per_s_median"));
  }
  std::vector<double> good;
  for (const auto& entry : rates)
    if (entry.second > 0.8 * best) good.push_back(entry.first);
  if (good.empty()) return {};
  return fmt::format(
      "Shard length: {} reaches at least 80 % of its best rate ({} GB/s) {}; longer stripes do not "
      "fit in the caches.",
      shape, rate_text(best),
      good.size() == 1
          ? "only at " + length_text(good.front())
          : fmt::format("from {} to {}", length_text(good.front()), length_text(good.back())));
}

std::string say_threads(const Json& run) {
  std::string text;
  for (const Json& row : rows_of(run, "threads")) {
    const double threads = number_of(row, "threads");
    if (threads <= 1 || number_of(row, "shard_bytes") != 65536) continue;
    text = fmt::format(
        "Threads: {} callers reach {:.2f} times the rate of one ({} GB/s in total; the memory "
        "limit scales by {:.2f}).",
        threads, number_of(row, "scaling"), rate_text(number_of(row, "gb_per_s")),
        number_of(row, "roof_scaling"));
  }
  return text;
}

std::string say_cold(const Json& run) {
  const Json& rows = rows_of(run, "cold");
  if (rows.empty()) return {};
  const Json& row = rows.back();
  return fmt::format(
      "Uncached data: {} at {} encodes at {} GB/s with streaming stores, {:.0f} % of the memory "
      "limit.",
      shape_of(row), length_text(number_of(row, "shard_bytes")),
      rate_text(number_of(row, "gb_per_s")), 100 * number_of(row, "fraction_of_roof"));
}

std::string say_latency(const Json& run) {
  for (const Json& row : rows_of(run, "latency")) {
    if (text_of(row, "coder") != "calpe") continue;
    const double p999 = number_of(row, "p999_us");
    return fmt::format(
        "Latency: an encode of {} with shards of {} takes {:.3g} us (P50), {:.3g} us (P99){}.",
        shape_of(row), length_text(number_of(row, "shard_bytes")), number_of(row, "p50_us"),
        number_of(row, "p99_us"), p999 > 0 ? fmt::format(", {:.3g} us (P99.9)", p999) : "");
  }
  return {};
}

std::string say_devices(const Json& run) {
  const Json& section = section_of(run, "devices");
  double cpu = 0;
  double best = 0;
  std::string name;
  for (const Json& row : rows_of(run, "devices")) {
    const double rate = number_of(row, "gb_per_s_median");
    if (text_of(row, "way") != "host memory") continue;
    if (text_of(row, "device") == "cpu") cpu = rate;
    if (rate > best) {
      best = rate;
      name = text_of(row, "device");
    }
  }
  if (best <= 0) {
    const std::string reason = text_of(section, "reason");
    return fmt::format("Devices: not measured{}.", reason.empty() ? "" : " (" + reason + ")");
  }
  if (name == "cpu" || best < notable * cpu) {
    return fmt::format(
        "Devices: none is faster than backend cpu for data in host memory ({} GB/s, wall time).",
        rate_text(cpu));
  }
  return fmt::format("Devices: {} is the fastest for data in host memory ({} GB/s, cpu {}).", name,
                     rate_text(best), rate_text(cpu));
}

// One-thread rates use thread CPU time. All others use wall time and depend on the load.
std::string say_load(const Json& run) {
  const Json& machine = object_of(run, "machine");
  const double load = number_of(machine, "load_average");
  const double cpus = number_of(machine, "cpu_count");
  if (load <= 0.5 * cpus) return {};
  return fmt::format(
      "WARNING: the machine was busy (load average {:.1f} on {} CPUs at the start). Do not rely on "
      "the wall-time figures: threads, latency, devices and OpenMP.",
      load, cpus);
}

std::string say_energy(const Json& run) {
  const Json& section = section_of(run, "energy");
  if (const double joules = number_of(section, "joules_per_gb"); joules > 0)
    return fmt::format("Energy: {:.2g} J per GB of data, all packages.", joules);
  const std::string reason = text_of(section, "reason");
  return fmt::format("Energy per GB: not measured{}.", reason.empty() ? "" : " (" + reason + ")");
}

}  // namespace

std::vector<std::string> summarize(const Json& run) {
  std::vector<std::string> sentences = {say_load(run), say_path(run)};
  for (const std::string& shape : shapes_in(rows_of(run, "")))
    sentences.push_back(say_shape(run, shape));
  for (const auto& say : {say_profiles, say_slower, say_length, say_cold, say_threads, say_latency,
                          say_devices, say_energy})
    sentences.push_back(say(run));
  std::erase(sentences, std::string());
  return sentences;
}

}  // namespace calpe::tools
