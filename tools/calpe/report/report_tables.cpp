// SPDX-License-Identifier: Apache-2.0
#include "calpe/report/report_tables.hpp"

#include <fmt/format.h>

namespace calpe::tools {

namespace {

std::string cell(double value, std::string_view format = "{:.4g}") {
  return value == 0 ? "–" : fmt::format(fmt::runtime(format), value);
}

ReportTable grid_table(const Json& run) {
  ReportTable table{"The grid", {"operation", "shape", "shard", "Calpe", "p10–p90"}, {}, {}};
  const std::vector<std::string> peers = peers_of(run);
  for (const std::string& peer : peers) {
    table.head.push_back(peer_title(run, peer));
    table.head.emplace_back("ratio");
  }
  table.head.insert(table.head.end(), {"memory limit", "of limit", "bytes counted"});
  for (const Json& row : rows_of(run, "")) {
    if (number_of(row, "gb_per_s") <= 0) continue;
    const double bytes = number_of(row, "bytes") / 1e9;
    std::vector<std::string> cells = {
        text_of(row, "operation"), shape_of(row), length_text(number_of(row, "shard_bytes")),
        rate_text(number_of(row, "gb_per_s_median")),
        fmt::format("{}–{}", rate_text(bytes / number_of(row, "seconds_p90")),
                    rate_text(bytes / number_of(row, "seconds_p10")))};
    for (const std::string& peer : peers) {
      const double rate = number_of(row, "gb_per_s_" + peer + "_median");
      cells.push_back(rate > 0 ? rate_text(rate) : "–");
      cells.push_back(cell(number_of(row, "ratio_" + peer), "{:.2f}"));
    }
    cells.push_back(rate_text(number_of(row, "roof_gb_per_s")));
    cells.push_back(fmt::format("{:.0f} %", 100 * number_of(row, "fraction_of_roof")));
    cells.push_back(text_of(row, "bytes_counted"));
    table.rows.push_back(std::move(cells));
  }
  table.note =
      "GB/s of data, medians of rounds. Ratio (above 1: Calpe is faster) and memory limit: best "
      "round over best round.";
  return table;
}

ReportTable plan_table(const Json& run) {
  ReportTable table{"Planning for an unseen loss pattern, in microseconds",
                    {"shape", "lost", "Calpe"},
                    {},
                    "Medians of rounds; no plan cache."};
  const std::vector<std::string> peers = peers_of(run);
  for (const std::string& peer : peers)
    table.head.push_back(peer_title(run, peer));
  for (const Json& row : rows_of(run, "")) {
    if (number_of(row, "plan_us") <= 0) continue;
    std::vector<std::string> cells = {shape_of(row), cell(number_of(row, "lost_shards")),
                                      cell(number_of(row, "plan_us"))};
    for (const std::string& peer : peers)
      cells.push_back(cell(number_of(row, "plan_us_" + peer)));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

ReportTable latency_table(const Json& run) {
  ReportTable table{
      "Latency of single calls, in microseconds",
      {"coder", "method", "shape", "shard", "calls", "best", "P50", "P90", "P99", "P99.9", "worst"},
      {},
      text_of(section_of(run, "latency"), "note")};
  for (const Json& row : rows_of(run, "latency")) {
    table.rows.push_back({text_of(row, "coder"), text_of(row, "method"), shape_of(row),
                          length_text(number_of(row, "shard_bytes")),
                          fmt::format("{}", number_of(row, "calls")),
                          cell(number_of(row, "best_us")), cell(number_of(row, "p50_us")),
                          cell(number_of(row, "p90_us")), cell(number_of(row, "p99_us")),
                          cell(number_of(row, "p999_us")), cell(number_of(row, "worst_us"))});
  }
  return table;
}

ReportTable emitted_table(const Json& run) {
  ReportTable table{
      "Emitted C code, 4+2, w = 3, compared with rates published in 2012, in MiB/s of data",
      {"unit", "style", "XORs", "processing", "here", "Core i5 M520", "Phenom II X4 840",
       "Quadro FX 880M", "Quadro 600"},
      {},
      "Published: P. Sobe, Parallel coding for storage systems, table 1; its GPUs "
      "ran OpenCL. Here: medians; thread CPU time for sequential, wall time with "
      "one thread per core for OpenMP."};
  constexpr double mib = 1024 * 1024;
  for (const Json& row : rows_of(run, "emitted")) {
    const Json& published = object_of(row, "published_mib_per_s");
    table.rows.push_back(
        {length_text(number_of(row, "unit_bytes")), text_of(row, "style"),
         cell(number_of(row, "xors")),
         fmt::format("{}, {}", text_of(row, "processing"), number_of(row, "threads")),
         fmt::format("{:.0f}", number_of(row, "gb_per_s_median") * 1e9 / mib),
         cell(number_of(published, "core_i5_m520")), cell(number_of(published, "phenom_ii_x4_840")),
         cell(number_of(published, "opencl_quadro_fx_880m")),
         cell(number_of(published, "opencl_quadro_600"))});
  }
  return table;
}

ReportTable device_table(const Json& run) {
  ReportTable table{"Backends and devices, GB/s of data",
                    {"backend", "layout", "way", "median", "best", "calls"},
                    {},
                    {}};
  for (const Json& row : rows_of(run, "devices")) {
    if (const std::string reason = text_of(row, "reason"); !reason.empty()) {
      table.rows.push_back({text_of(row, "device"), "", "not measured: " + reason, "", "", ""});
      continue;
    }
    table.rows.push_back({text_of(row, "device"), text_of(row, "layout"), text_of(row, "way"),
                          rate_text(number_of(row, "gb_per_s_median")),
                          rate_text(number_of(row, "gb_per_s")), cell(number_of(row, "calls"))});
  }
  return table;
}

ReportTable phase_table(const Json& run) {
  ReportTable table{
      "First use, phase by phase, in milliseconds",
      {"backend", "platform", "buffers", "compile", "transfer in", "kernel", "transfer out"},
      {},
      text_of(section_of(run, "phases"), "note")};
  for (const Json& row : rows_of(run, "phases")) {
    std::vector<std::string> cells = {text_of(row, "device")};
    for (const char* phase :
         {"platform", "buffers", "compile", "transfer_in", "kernel", "transfer_out"})
      cells.push_back(cell(1e3 * number_of(row, std::string(phase) + "_seconds"), "{:.3g}"));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

ReportTable prediction_table(const Json& run) {
  const Json& section = section_of(run, "predictions");
  ReportTable table{"GPUs: predicted, not measured, GB/s of data",
                    {"GPU", "code", "layout", "on the GPU", "limit", "from the host", "limit"},
                    {},
                    "Formula: " + text_of(section, "formula") + "."};
  for (const Json& gpu : list_of(section, "gpus")) {
    for (const Json& row : list_of(gpu, "rows")) {
      table.rows.push_back({text_of(gpu, "gpu"), shape_of(row), text_of(row, "layout"),
                            rate_text(number_of(row, "gb_per_s")), text_of(row, "limit"),
                            rate_text(number_of(row, "host_gb_per_s")),
                            text_of(row, "host_limit")});
    }
  }
  return table;
}

ReportTable conflict_table(const Json& run) {
  const Json& section = section_of(run, "bank_conflicts");
  ReportTable table{"Bank conflicts: turns until all threads have their byte",
                    {"threads", "banks", "", "published", "simulated", "simulated, whole words"},
                    {},
                    fmt::format("Rule: {}. {} trials, seed {}.", text_of(section, "rule"),
                                number_of(section, "trials"), number_of(section, "seed"))};
  for (const Json& row : rows_of(run, "bank_conflicts")) {
    table.rows.push_back({cell(number_of(row, "threads")), cell(number_of(row, "banks")),
                          text_of(row, "meaning"), cell(number_of(row, "published"), "{:.2f}"),
                          cell(number_of(row, "simulated"), "{:.3f}"),
                          cell(number_of(row, "simulated_words"), "{:.3f}")});
  }
  return table;
}

}  // namespace

std::vector<ReportTable> report_tables(const Json& run) {
  std::vector<ReportTable> tables;
  for (const auto& make : {grid_table, plan_table, latency_table, emitted_table, device_table,
                           phase_table, prediction_table, conflict_table}) {
    tables.push_back(make(run));
    if (tables.back().rows.empty()) tables.pop_back();
  }
  return tables;
}

}  // namespace calpe::tools
