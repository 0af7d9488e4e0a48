// SPDX-License-Identifier: Apache-2.0
// The tables of the report page: the numbers behind the charts, and those without a chart.
#pragma once
#include <string>
#include <vector>

#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

struct ReportTable {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::string note;  // below the table; may be empty
};

// All tables that the run has rows for.
std::vector<ReportTable> report_tables(const Json& run);

}  // namespace calpe::tools
