// SPDX-License-Identifier: Apache-2.0
// Backblaze's model of 2018: a year is divided into windows as long as a rebuild, and data is lost
// if more than m devices fail in the same window. Kept because its numbers are quoted. It misses
// failures that span two windows and is optimistic by a factor of m+1.
#pragma once
#include "durability/scheme.hpp"

namespace calpe::durability {

// Probability of a loss within its year of 365 days.
double window_loss_per_year(const Scheme& scheme, double failures_per_year, double repair_days);

}  // namespace calpe::durability
