// SPDX-License-Identifier: Apache-2.0
// Computes the values that `calpe reram --plot` draws.
#pragma once
#include <functional>
#include <string>

#include "calpe/reram/reram_plots.hpp"
#include "calpe/reram/reram_run.hpp"

namespace calpe::tools {

// Throughput over k for each m of the paper, error rate over active rows, and wear of the requested
// code by mode. `say` receives progress messages. Fails as map_matrix and Codec do.
Result<ReramPlots> compute_plots(const ReramRequest& request,
                                 const std::function<void(std::string)>& say);

}  // namespace calpe::tools
