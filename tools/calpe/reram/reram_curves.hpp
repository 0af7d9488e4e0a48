// SPDX-License-Identifier: Apache-2.0
// The figures that `calpe reram --plot` draws.
#pragma once
#include <functional>
#include <string>

#include "calpe/reram/reram_plots.hpp"
#include "calpe/reram/reram_run.hpp"

namespace calpe::tools {

// Throughput over k for each m of the paper, error rate over active rows, wear of the request's
// code by mode. `say` hears what is being done. Fails as map_matrix and Codec do.
Result<ReramPlots> compute_plots(const ReramRequest& request,
                                 const std::function<void(std::string)>& say);

}  // namespace calpe::tools
