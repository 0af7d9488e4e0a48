// SPDX-License-Identifier: Apache-2.0
// Draws the plots of `calpe reram --plot` from computed values.
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

// Empty vectors are not drawn.
struct ThroughputPlot {
  std::string preset;  // "reraid-fit"
  // "calibrated to 19x at 10+2 and +72 % from k = 10 to 40, not measured"; printed below the plot.
  std::string origin;
  std::vector<ParityRates> simulated = {};  // drawn once if all coincide within 1 %
  std::vector<ParityRates> paper_cpu = {};
  std::string paper_baseline = {};           // library, matrix, packet size, processor
  std::vector<ParityRates> calpe = {};       // measured in this run
  std::string calpe_baseline = {};           // backend, matrix, processor, threads
  std::vector<ParityRates> jerasure_8 = {};  // measured here with packets of 8 bytes
  std::vector<ParityRates> jerasure = {};    // and with packets of 2048 bytes
  std::string jerasure_baseline = {};
  std::vector<std::string> notes = {};  // printed below the plot
};

// Rate of wrong bits; x: active rows, y: rate.
struct ErrorCurve {
  double variation = 0;  // 0.1: 10 % standard deviation
  std::vector<ChartPoint> closed_form = {};
  std::vector<ChartPoint> measured = {};  // by the simulator with drawn cells
};

struct ErrorPlot {
  std::string preset;
  std::string conditions = {};  // on/off ratio, seed, number of crossbars
  std::vector<ErrorCurve> curves = {};
  double target = 0;  // draws a line at this rate; 0: no line
  std::vector<std::string> notes = {};
};

// x: GiB of data coded, y: writes to the most written row.
struct WearPlot {
  std::string preset;
  std::string conditions = {};  // code and number of crossbars
  std::vector<ChartPoint> normal = {};
  std::vector<ChartPoint> xor_mode = {};
  std::vector<ChartPoint> combination_rewrite = {};
  std::vector<ChartPoint> combination_digital = {};
  double endurance = 1e9;  // of the preset; drawn with 10^6, 10^9 and 10^12
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

// Writes throughput.svg, errors.svg and wear.svg, replacing existing files, and creates the
// directory with its parents. Returns the paths. Fails with ErrorCode::io, naming path and reason.
Result<std::vector<std::string>> write_plots(const std::string& folder, const ReramPlots& plots);

}  // namespace calpe::tools
