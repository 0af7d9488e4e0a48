// SPDX-License-Identifier: Apache-2.0
#include "calpe/bench/bench_predictions.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/try.hpp"
#include "bench/harness/report_json.hpp"
#include "calpe/predict/bank_conflicts.hpp"
#include "calpe/predict/prediction_report.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view formula =
    "smallest of MEM = memory_efficiency * memory * k / (k + m), ALU = compute_efficiency * "
    "multiprocessors * clock * alu_lanes / ALU per byte, ISSUE = the same of all instructions, "
    "L2 = l2_efficiency * l2 / (row groups + m / k); from the host also LINK = min(pcie, pcie * k "
    "/ m)";

// The paper's card: 30 multiprocessors with 4 conflict-free lookups per clock each (120 in all),
// 2.92 conflicts, 1.476 GHz. Each data byte is looked up once in the logarithm table and m times
// in the power table.
struct LookupGpu {
  double multiprocessors = 30;
  double clock_ghz = 1.476;
  double lookups_per_clock = 4;
  double conflicts = 2.92;
  double pcie_gb_per_s = 5.5;  // estimated copy rate of PCIe 2.0 x16
};

constexpr std::string_view lookup_formula =
    "kernel: multiprocessors * clock * 4 lookups / 2.92 conflicts / (1 + m) lookups per byte; "
    "link: pcie * k / (k + m), as this card copies in one direction at a time; excess: link - "
    "kernel";
constexpr std::string_view excess_formula =
    "kernel: smallest of MEM, ALU, ISSUE and L2; link: min(pcie, pcie * k / m), as current cards "
    "copy in both directions at once; excess: link - kernel";

Json excess_row(unsigned k, unsigned m, double link, double kernel) {
  return {{"data_shards", k},
          {"parity_shards", m},
          {"link_gb_per_s", bench::rounded(link)},
          {"kernel_gb_per_s", bench::rounded(kernel)},
          {"excess_gb_per_s", bench::rounded(link - kernel)}};
}

Json lookup_excess() {
  const LookupGpu gpu;
  Json rows = Json::array();
  for (unsigned m = 2; m <= 16; ++m) {
    for (const unsigned k : {2U, 4U, 8U, 12U, 16U, 20U, 24U, 28U, 32U}) {
      const double link = gpu.pcie_gb_per_s * k / (k + m);
      const double lookups = gpu.multiprocessors * gpu.clock_ghz * gpu.lookups_per_clock;
      rows.push_back(excess_row(k, m, link, lookups / gpu.conflicts / (1 + m)));
    }
  }
  return {{"gpu", "GeForce GTX 285, table lookups alone"},
          {"predicted", true},
          {"formula", lookup_formula},
          {"rows", rows}};
}

}  // namespace

Result<Json> predict_rates(const std::vector<GpuDescription>& gpus, const BenchExtent& extent) {
  Json section = {{"title", "Predicted rates of GPUs"},
                  {"predicted", true},
                  {"note", prediction_note},
                  {"formula", formula},
                  {"gpus", Json::array()}};
  PredictedCodes codes;
  codes.shapes = {"4+2", "10+4", "20+10"};
  if (extent.is_full()) codes.shapes.insert(codes.shapes.end(), {"16+16", "223+32"});
  // Kernels are the same for all GPUs, and counting their instructions is the slow part.
  std::vector<PredictedRow> counted;
  for (const GpuDescription& gpu : gpus) {
    extent.on_progress("predicting " + gpu.name);
    if (counted.empty()) {
      CALPE_TRY(counted, predict_codes(gpu, codes));
    }
    for (PredictedRow& row : counted) {
      const Shape shape{row.spec.data_shards, row.spec.parity_shards};
      row.prediction = predict(gpu, row.kernel.counts, shape);
    }
    Json entry = to_json(gpu, counted);
    entry["predicted"] = true;
    entry["formula"] = formula;
    entry["inputs"] = {{"multiprocessors", gpu.multiprocessors},
                       {"clock_ghz", gpu.clock_ghz},
                       {"memory", gpu.memory_gb_per_s},
                       {"l2", gpu.l2_gb_per_s},
                       {"pcie", gpu.pcie_gb_per_s}};
    section["gpus"].push_back(std::move(entry));
  }
  return section;
}

Result<Json> predict_excess(const std::vector<GpuDescription>& gpus, const BenchExtent& extent) {
  Json section = {{"title", "Link rate minus kernel rate"},
                  {"predicted", true},
                  {"formula", "excess = link - kernel, both in GB/s of data"},
                  {"gpus", Json::array({lookup_excess()})}};
  if (gpus.empty()) return section;
  const GpuDescription& gpu = gpus.front();
  Json entry = {{"gpu", gpu.name}, {"predicted", true}, {"formula", excess_formula}};
  entry["rows"] = Json::array();
  std::vector<unsigned> parities = {2, 4, 8, 16};
  if (extent.is_full()) parities = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const unsigned m : parities) {
    for (const unsigned k : {2U, 4U, 8U, 16U, 32U}) {
      extent.on_progress(fmt::format("predicting {}+{}", k, m));
      CALPE_TRY(CodeSpec spec, find_profile("cauchy"));
      spec.data_shards = k;
      spec.parity_shards = m;
      CALPE_TRY(const CountedKernel kernel, count_kernel(spec));
      const double rate = predict(gpu, kernel.counts, {k, m}).device.gb_per_s;
      const double link = std::min(gpu.pcie_gb_per_s, gpu.pcie_gb_per_s * k / m);
      entry["rows"].push_back(excess_row(k, m, link, rate));
    }
  }
  section["gpus"].push_back(std::move(entry));
  return section;
}

Json bank_conflict_rows(const BenchExtent& extent) {
  constexpr std::uint64_t seed = 1;
  const unsigned trials = extent.is_full() ? 2'000'000 : 200'000;
  Json rows = Json::array();
  for (const PublishedConflicts& each : published_conflicts()) {
    BankLayout words = each.layout;
    words.serves = BankServes::word;
    rows.push_back({{"threads", each.layout.threads},
                    {"banks", each.layout.banks},
                    {"meaning", each.meaning},
                    {"published", each.published},
                    {"simulated", bench::rounded(simulate_conflicts(each.layout, trials, seed))},
                    {"simulated_words", bench::rounded(simulate_conflicts(words, trials, seed))}});
  }
  return {{"title", "Bank conflicts of table lookups"},
          {"rule",
           "table of 256 bytes in 4-byte words, word i in bank i mod banks; each thread looks up "
           "one random byte; a bank serves one byte address at a time, to all threads that want "
           "it; the slowest bank decides. simulated_words: a bank serves one word at a time"},
          {"trials", trials},
          {"seed", seed},
          {"rows", rows}};
}

}  // namespace calpe::tools
