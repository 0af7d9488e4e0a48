// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_device.hpp"

#include <charconv>

#include "backend/cuda/cuda_driver.hpp"
#include "backend/gpu/gpu_device.hpp"
#include "backend/gpu/pci_address.hpp"
#include "base/env.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::cuda {

Result<std::unique_ptr<Device>> open_cuda(std::string_view variant) {
  unsigned index = 0;
  if (gpu::is_pci_address(variant)) {
    CALPE_TRY(index, find_cuda_device(variant));
  } else if (!variant.empty()) {
    const char* const end = variant.data() + variant.size();
    const auto [parsed_to, error] = std::from_chars(variant.data(), end, index);
    if (error != std::errc() || parsed_to != end) {
      return invalid("cuda has no variant \"", variant,
                     "\"; expected the number or PCI address of a device");
    }
  }
  const std::string key = text("cuda:", index, "\n", environment("CALPE_CUDA_DRIVER").value_or(""));
  return gpu::open_gpu_device(key, gpu::options_from_environment(),
                              [index] { return open_cuda_driver(index); });
}

}  // namespace calpe::backend::cuda
