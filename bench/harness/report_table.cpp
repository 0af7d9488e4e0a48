// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/report_table.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/byte_count.hpp"

namespace calpe::bench {

namespace {

// Three or four significant digits.
std::string figure_text(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string ratio_text(const RatioSummary& ratio) {
  return figure_text(ratio.best) + "x";
}

std::string spread_text(const RatioSummary& ratio) {
  return fmt::format("{}..{}", figure_text(ratio.p10), figure_text(ratio.p90));
}

// The kernel prints sizes in K: "307200K" is 300M.
std::string size_text(const std::string& size) {
  auto bytes = parse_bytes(size);
  if (!bytes) return size;
  std::string text = bytes_to_text(*bytes);  // "300 MiB"
  return text.substr(0, text.find(' ')) + text.substr(text.find(' ') + 1, 1);
}

std::string cache_text(const MachineInfo& machine) {
  std::string text;
  for (const CacheInfo& cache : machine.caches) {
    text += fmt::format("{}L{}{} {}", text.empty() ? "" : ", ", cache.level,
                        cache.kind == "Data" ? "d" : "", size_text(cache.size));
  }
  return text;
}

std::string cell_text(const Row& row) {
  std::string text = fmt::format("{} {}", name_of(row.operation), to_text(row.shape));
  if (row.shard_bytes > 0) text += " " + bytes_to_text(row.shard_bytes);
  return text;
}

}  // namespace

void TablePrinter::print_start(const Report& report) {
  const MachineInfo& machine = report.machine;
  condition_ = to_text(report.conditions);
  fmt::print(file_, "calpe {}, {}, profile {}{}{}\n", machine.calpe_version, report.path,
             report.profile, condition_.empty() ? "" : ", ", condition_);
  fmt::print(file_, "{}, {} CPUs, {}\n", machine.cpu, machine.cpu_count, cache_text(machine));
  if (machine.load_average > 0.5) {
    fmt::print(file_, "WARNING: load average is {:.1f}; other work disturbs the results\n",
               machine.load_average);
  }
  for (const PeerInfo& peer : report.peers)
    fmt::print(file_, "{}: {} {}\n", peer.name, peer.library, peer.version);
  fmt::print(file_,
             "\nGB/s: 1e9 bytes of data per second, data shards x shard bytes / time, best round."
             "\nN.NNx: Calpe / peer, best rounds; then median and p10..p90 of the ratios within "
             "rounds.\nlimit: memory limit, the same reads and writes without arithmetic; n: "
             "non-temporal stores were faster.\nmemcpy: copy of one half of the same memory to "
             "the other half.\n");
}

void TablePrinter::print_speed_header(const Report& report) {
  fmt::print(file_, "\n{:<12} {:>7} {:>8} {:>8}", "operation", "shape", "shard", "calpe");
  for (const PeerInfo& peer : report.peers)
    fmt::print(file_, " |{:>9} {:>6} {:>6} {:<12}", peer.name, "", "median", "p10..p90");
  fmt::print(file_, " |{:>6}  {:>8} {:>7}", "limit", "of limit", "memcpy");
  if (report.conditions.threads > 1 || report.conditions.pool_threads > 1) {
    fmt::print(file_, " |{:>6} {:>6} {:>8} {:>5}", "alone", "N/1", "lim. N/1", "of it");
  }
  fmt::print(file_, "\n");
}

void TablePrinter::print_plan_header(const Report& report) {
  fmt::print(file_, "\nPlan for an unseen loss pattern, in microseconds (best round):\n");
  fmt::print(file_, "{:<12} {:>7} {:>8} {:>8}", "operation", "shape", "lost", "calpe");
  for (const PeerInfo& peer : report.peers)
    fmt::print(file_, " |{:>9} {:>8}", peer.name, "");
  fmt::print(file_, "\n");
}

void TablePrinter::print_speed_row(const Row& row) {
  fmt::print(file_, "{:<12} {:>7} {:>8} {:>8}", name_of(row.operation), to_text(row.shape),
             bytes_to_text(row.shard_bytes), figure_text(row.figure.best));
  for (const auto& peer : row.peers) {
    if (!peer) {
      fmt::print(file_, " |{:>9} {:>6} {:>6} {:<12}", "-", "", "", "");
      continue;
    }
    fmt::print(file_, " |{:>9} {:>6} {:>6} {:<12}", figure_text(peer->figure.best),
               ratio_text(peer->ratio), figure_text(peer->ratio.median), spread_text(peer->ratio));
  }
  fmt::print(file_, " |{:>6}{} {:>7.0f}% {:>7}", figure_text(row.roof().best),
             row.roof_nt.best > row.roof_plain.best ? 'n' : ' ',
             100 * row.figure.best / row.roof().best, figure_text(row.limits.copy.best));
  if (row.alone) {
    const Alone& alone = *row.alone;
    const bool has_roof = alone.roof.best != 0;
    const double scaling = row.figure.best / alone.figure.best;
    const double roof_scaling = has_roof ? row.roof().best / alone.roof.best : 1;
    fmt::print(file_, " |{:>6} {:>6.2f} {:>8} {:>5}", figure_text(alone.figure.best), scaling,
               has_roof ? fmt::format("{:.2f}", roof_scaling) : "-",
               has_roof ? fmt::format("{:.2f}", scaling / roof_scaling) : "-");
  }
  if (!condition_.empty()) fmt::print(file_, "  {}", condition_);
  fmt::print(file_, "\n");
}

void TablePrinter::print_plan_row(const Row& row) {
  fmt::print(file_, "{:<12} {:>7} {:>8} {:>8}", name_of(row.operation), to_text(row.shape),
             row.lost_shards, figure_text(row.figure.best));
  for (const auto& peer : row.peers) {
    fmt::print(file_, " |{:>9} {:>8}", peer ? figure_text(peer->figure.best) : "-",
               peer ? ratio_text(peer->ratio) : "");
  }
  fmt::print(file_, "\n");
}

void TablePrinter::print_row(const Report& report, const Row& row) {
  const Section section = row.operation == Operation::plan ? Section::plan : Section::speed;
  if (section != section_) {
    section == Section::plan ? print_plan_header(report) : print_speed_header(report);
    section_ = section;
  }
  section == Section::plan ? print_plan_row(row) : print_speed_row(row);
  std::fflush(file_);  // show each row at once, also through a pipe
}

void TablePrinter::print_skip(const SkippedCell& cell) {
  fmt::print(file_, "skipped {}\n", cell.reason);
}

void TablePrinter::print_summary(const Report& report) {
  for (std::size_t i = 0; i < report.peers.size(); ++i) {
    const Row* worst = nullptr;
    std::size_t cells = 0;
    std::size_t ahead = 0;
    std::vector<double> ratios;
    for (const Row& row : report.rows) {
      if (row.operation == Operation::plan || !row.peers[i]) continue;
      const double ratio = row.peers[i]->ratio.best;
      ratios.push_back(ratio);
      ++cells;
      ahead += ratio >= 1 ? 1 : 0;
      if (worst == nullptr || ratio < worst->peers[i]->ratio.best) worst = &row;
    }
    if (worst == nullptr) continue;
    fmt::print(file_, "{}{}: at least as fast in {} of {} cells; lowest {} ({}), median {:.2f}x\n",
               i == 0 ? "\n" : "", report.peers[i].name, ahead, cells,
               ratio_text(worst->peers[i]->ratio), cell_text(*worst), quantile(ratios, 0.5));
  }
}

}  // namespace calpe::bench
