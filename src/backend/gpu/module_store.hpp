// SPDX-License-Identifier: Apache-2.0
// Modules from source or from the disk cache. The key has everything that determines them (full
// program, form, device, driver and emitter version). Stored only after they computed the right
// bytes.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include <calpe/result.hpp>

#include "backend/gpu/core.hpp"

namespace calpe::backend::gpu {

// Increase when the emitted source of any program changes. Part of every key on disk.
inline constexpr std::string_view emitter_version = "4";

struct Wanted {
  std::string program = {};  // full text of the computation
  emit::DeviceForm form = {};
  std::function<Result<emit::DeviceText>()> emit = {};  // called only on a cache miss
};

struct Obtained {
  std::shared_ptr<const Module> module;
  std::vector<std::string> entries = {};
  std::uint32_t row_groups = 1;
  std::size_t word_bytes = 4;
  bool is_new = false;       // just compiled
  std::string content = {};  // its key
};

Result<Obtained> obtain(Core& core, const Wanted& wanted);
// Call after the first successful use. If it cannot be stored, it is compiled again next time.
void keep(Core& core, const Obtained& obtained);

}  // namespace calpe::backend::gpu
