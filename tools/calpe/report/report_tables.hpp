// SPDX-License-Identifier: Apache-2.0
// The tables of the report's page: what a picture cannot say, and all figures of those it can.
#pragma once
#include <string>
#include <vector>

#include "calpe/report/report_rows.hpp"

namespace calpe::tools {

struct ReportTable {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::string note;  // below; may be empty
};

// All that the run has rows for.
std::vector<ReportTable> report_tables(const Json& run);

}  // namespace calpe::tools
