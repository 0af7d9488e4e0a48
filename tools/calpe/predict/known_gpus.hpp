// SPDX-License-Identifier: Apache-2.0
// The GPUs of examples/gpus, compiled in.
#pragma once
#include <string>
#include <vector>

#include <calpe/result.hpp>

#include "calpe/predict/gpu_file.hpp"

namespace calpe::tools {

struct NamedGpu {
  std::string name;  // of the file, such as "rtx4090"
  GpuDescription description;
};

Result<std::vector<NamedGpu>> named_gpus();
Result<std::vector<GpuDescription>> known_gpus();

}  // namespace calpe::tools
