// SPDX-License-Identifier: Apache-2.0
// Draws the plots of `calpe durability --plot` from computed values.
#pragma once
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "calpe/charts/line_chart.hpp"

namespace calpe::tools {

struct PlottedCode {
  std::string name;
  double overhead = 1;       // bytes stored per usable byte
  double loss_per_year = 0;  // probability; 0: not drawn
};

struct LossPlot {
  std::string conditions;
  std::vector<PlottedCode> codes;
};

struct RebuildCurve {
  std::string name;
  std::vector<ChartPoint> points = {};  // x: hours, y: probability of loss a year
  double hours = 0;                     // rebuild time with the given bandwidths
  double loss = 0;
};

struct RebuildPlot {
  std::string conditions;
  std::vector<RebuildCurve> curves;
};

Chart loss_chart(const LossPlot& plot);
Chart rebuild_chart(const RebuildPlot& plot);

// Writes loss.svg and rebuild.svg, replacing existing files, and creates the directory. Returns
// their paths. Fails with ErrorCode::io, naming path and reason.
Result<std::vector<std::string>> write_plots(const std::string& folder, const LossPlot& loss,
                                             const RebuildPlot& rebuild);

}  // namespace calpe::tools
