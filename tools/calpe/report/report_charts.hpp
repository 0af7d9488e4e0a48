// SPDX-License-Identifier: Apache-2.0
// The charts of `calpe report`, made from the rows of a run file.
#pragma once
#include <string>
#include <vector>

#include "calpe/charts/chart_files.hpp"
#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

// All charts that the run has rows for, in page order, named after their files. Points are medians,
// thin lines span the 10th to 90th percentile, predictions are hollow.
std::vector<NamedChart> report_charts(const Json& run);

// Single charts; without series if the run has no rows for them. Names lack ".svg".
std::vector<NamedChart> over_k_charts(const Json& run);      // one per m and operation
std::vector<NamedChart> over_bytes_charts(const Json& run);  // one per shape
std::vector<NamedChart> wide_charts(const Json& run);        // one per operation of a --wide run
Chart packets_chart(const Json& run);
Chart profiles_chart(const Json& run);
Chart threads_chart(const Json& run);
Chart latency_chart(const Json& run);
Chart roofline_chart(const Json& run);
Chart xors_chart(const Json& run);
Chart emitted_chart(const Json& run);
Chart devices_chart(const Json& run);
Chart phases_chart(const Json& run);
Chart predictions_chart(const Json& run);
std::vector<NamedChart> excess_charts(const Json& run);  // one per GPU

}  // namespace calpe::tools
