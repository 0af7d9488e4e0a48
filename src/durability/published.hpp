// SPDX-License-Identifier: Apache-2.0
// Recomputes published numbers and says which are right.
#pragma once
#include <string>
#include <vector>

#include "durability/scheme.hpp"

namespace calpe::durability {

struct PublishedFigure {
  std::string what;
  std::string published;
  double computed = 0;
  std::string unit;  // "", "years", "a year"
  bool is_confirmed = false;
  std::string standing;  // one sentence
};

std::vector<PublishedFigure> published_figures();

// RAID formula of Chen, Lee, Gibson, Katz and Patterson (1994) for any m: hours to the first loss
// among `disks` in groups, with one rebuild at a time as its repair term implies.
double closed_form_mttdl(const Scheme& scheme, double disks, double mttf_hours, double mttr_hours);

}  // namespace calpe::durability
