// SPDX-License-Identifier: Apache-2.0
// PCI addresses as names of devices: unlike numbers, they do not depend on the order of drivers.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>

namespace calpe::backend::gpu {

// "0000:3b:00.0"
inline std::string pci_address(unsigned domain, unsigned bus, unsigned device, unsigned function) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", domain, bus, device, function);
  return text;
}

// True if a variant is meant as a PCI address and not as a number.
inline bool is_pci_address(std::string_view variant) {
  return variant.find(':') != std::string_view::npos;
}

}  // namespace calpe::backend::gpu
