// SPDX-License-Identifier: Apache-2.0
// Backblaze's model of 2018: a year is cut into windows as long as a rebuild, and data are lost
// when more than m devices fail in the same one. Kept because its figures are quoted; it misses
// failures on both sides of a cut and is too good by a factor of m+1.
#pragma once
#include "durability/scheme.hpp"

namespace calpe::durability {

// Of a loss within its year of 365 days.
double window_loss_per_year(const Scheme& scheme, double failures_per_year, double repair_days);

}  // namespace calpe::durability
