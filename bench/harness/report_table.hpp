// SPDX-License-Identifier: Apache-2.0
// The report for people: a table that grows as the run goes on, and a verdict per peer.
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
  std::string condition_;            // of the run, when it is not the usual one
  Section section_ = Section::none;  // whose header was printed last
};

}  // namespace calpe::bench
