// SPDX-License-Identifier: Apache-2.0
// The pictures of `calpe report`: from the rows of a run file to charts. Nothing is measured here.
#pragma once
#include <string>
#include <vector>

#include "calpe/charts/chart_files.hpp"
#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

// All that the run has rows for, in the order of the page. Medians are drawn, with the middle four
// fifths of the rounds as thin lines; predictions are hollow. Names are those of files.
std::vector<NamedChart> report_charts(const Json& run);

// Each of them, without series when the run has no rows for it; names are without ".svg".
std::vector<NamedChart> over_k_charts(const Json& run);      // one for each m and operation
std::vector<NamedChart> over_bytes_charts(const Json& run);  // one for each shape
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
std::vector<NamedChart> excess_charts(const Json& run);  // one for each GPU

}  // namespace calpe::tools
