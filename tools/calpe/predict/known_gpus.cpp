// SPDX-License-Identifier: Apache-2.0
#include "calpe/predict/known_gpus.hpp"

#include <string_view>

#include "base/try.hpp"
#include "calpe/predict/known_gpu_files.hpp"

namespace calpe::tools {

Result<std::vector<NamedGpu>> named_gpus() {
  std::vector<NamedGpu> gpus;
  for (const KnownGpu& known : known_gpu_files) {
    CALPE_TRY(GpuDescription gpu, parse_gpu(known.text, known.name));
    const std::string_view stem = known.name.substr(0, known.name.find('.'));
    gpus.push_back({.name = std::string(stem), .description = std::move(gpu)});
  }
  return gpus;
}

Result<std::vector<GpuDescription>> known_gpus() {
  CALPE_TRY(std::vector<NamedGpu> named, named_gpus());
  std::vector<GpuDescription> gpus;
  for (NamedGpu& gpu : named)
    gpus.push_back(std::move(gpu.description));
  return gpus;
}

}  // namespace calpe::tools
