// SPDX-License-Identifier: Apache-2.0
// The report as a table that grows during the run, with a summary per peer.
#pragma once
#include <cstdio>
#include <string>

#include "bench/harness/report.hpp"

namespace calpe::bench {

class TablePrinter {
 public:
  explicit TablePrinter(std::FILE* file) : file_(file) {}

  void print_start(const Report& report);
  void print_row(const Report& report, const Row& row);
  void print_skip(const SkippedCell& cell);
  void print_summary(const Report& report);

 private:
  void print_speed_header(const Report& report);
  void print_plan_header(const Report& report);
  void print_speed_row(const Row& row);
  void print_plan_row(const Row& row);

  enum class Section { none, speed, plan };
  std::FILE* file_;
  std::string condition_;            // non-default conditions of the run
  Section section_ = Section::none;  // last printed header
};

}  // namespace calpe::bench
