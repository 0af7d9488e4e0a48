// SPDX-License-Identifier: Apache-2.0
// The result of verify as metrics of Prometheus, for the textfile collector of node_exporter.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "calpe/files/files_margin.hpp"
#include "store/read/verify_set.hpp"

namespace calpe::tools {

struct VerifyRun {
  double seconds = 0;
  std::int64_t end_time = 0;                       // seconds since 1970
  std::optional<std::int64_t> complete_time = {};  // from the record, if there is one
  bool is_newer_lost = false;                      // the set is an older state: data is lost
};

std::string metrics_text(const store::VerifyReport& report, const Margin& margin,
                         const VerifyRun& run);

}  // namespace calpe::tools
