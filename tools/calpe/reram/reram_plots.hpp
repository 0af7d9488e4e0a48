// SPDX-License-Identifier: Apache-2.0
// The pictures of `calpe reram --plot`: what they show is passed in, nothing is simulated here.
#pragma once
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "calpe/charts/line_chart.hpp"

namespace calpe::tools {

// Rates at one number of parity shards.
struct ParityRates {
  unsigned parity = 0;
  std::vector<ChartPoint> rates = {};  // x: data shards, y: MB/s of data (10^6 bytes)
};

// Every vector may be empty: then it is not drawn.
struct ThroughputPlot {
  std::string preset;  // "reraid-fit"
  // "calibrated to 19x at 10+2 and +72 % from k = 10 to 40, not measured"; said below the picture.
  std::string origin;
  std::vector<ParityRates> simulated = {};  // drawn once where all coincide within 1 %
  std::vector<ParityRates> paper_cpu = {};
  std::string paper_baseline = {};           // library, matrix, packet size, processor
  std::vector<ParityRates> calpe = {};       // measured in this run
  std::string calpe_baseline = {};           // backend, matrix, processor, threads
  std::vector<ParityRates> jerasure_8 = {};  // measured here with packets of 8 bytes
  std::vector<ParityRates> jerasure = {};    // and with good ones
  std::string jerasure_baseline = {};
  std::vector<std::string> notes = {};  // said below as well
};

// Bits wrong out of all bits; x: active rows, y: rate.
struct ErrorCurve {
  double variation = 0;  // 0.1: 10 % standard deviation
  std::vector<ChartPoint> closed_form = {};
  std::vector<ChartPoint> measured = {};  // by the simulator with drawn cells
};

struct ErrorPlot {
  std::string preset;
  std::string conditions = {};  // on/off ratio, seed, how many bits were counted
  std::vector<ErrorCurve> curves = {};
  double target = 0;  // a horizontal line at this rate, unless 0
  std::vector<std::string> notes = {};
};

// x: GiB of data coded, y: writes of the most written row so far.
struct WearPlot {
  std::string preset;
  std::string conditions = {};  // the code, and how many crossbars share the work
  std::vector<ChartPoint> normal = {};
  std::vector<ChartPoint> xor_mode = {};
  std::vector<ChartPoint> combination_rewrite = {};
  std::vector<ChartPoint> combination_digital = {};
  double endurance = 1e9;  // of the preset; lines stand at 10^6, 10^9, 10^12 and there
  std::vector<std::string> notes = {};
};

struct ReramPlots {
  ThroughputPlot throughput;
  ErrorPlot errors;
  WearPlot wear;
};

Chart throughput_chart(const ThroughputPlot& plot);
Chart error_chart(const ErrorPlot& plot);
Chart wear_chart(const WearPlot& plot);

// Writes throughput.svg, errors.svg and wear.svg, over those that are there, and creates the folder
// and those above it. Returns their paths. Fails with ErrorCode::io, naming path and reason.
Result<std::vector<std::string>> write_plots(const std::string& folder, const ReramPlots& plots);

}  // namespace calpe::tools
