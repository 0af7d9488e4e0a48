// SPDX-License-Identifier: Apache-2.0
// Prints the reports of `calpe equations` (figures, checks, runs), as lines or as JSON.
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include <calpe/result.hpp>

#include "calpe/equations/equations_arguments.hpp"
#include "calpe/equations/equations_program.hpp"

namespace calpe::tools {

// Each add_ function returns false if its answer is no. Lines are printed at once; with --json,
// everything is printed at the end.
class EquationsReport {
 public:
  EquationsReport(const EquationsArguments& arguments, const Equations& equations);
  ~EquationsReport();
  EquationsReport(const EquationsReport&) = delete;
  EquationsReport& operator=(const EquationsReport&) = delete;

  void add_stats();
  Result<bool> add_check();   // --check
  Result<bool> add_equals();  // --equals
  Result<bool> add_run();     // --compile-run
  void finish() const;        // prints the JSON

 private:
  void print_check(const struct CheckFindings& findings) const;

  const EquationsArguments& arguments_;
  const Equations& equations_;
  std::unique_ptr<nlohmann::ordered_json> json_;
};

// Returns "Parameters: k=5, m=2, w=3", the first comment of the emitted source code.
std::string title_of(const Equations& equations);

// Returns comment lines with the chosen matrix and, for decoders, the shard of each unit.
std::string legend_of(const Equations& equations);

}  // namespace calpe::tools
