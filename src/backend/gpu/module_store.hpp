// SPDX-License-Identifier: Apache-2.0
// Modules from text, or from the disk cache: kept under all that decides them (the full program,
// the form, device, driver and emitter version), and only after they ran and gave the right bytes.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include <calpe/result.hpp>

#include "backend/gpu/core.hpp"

namespace calpe::backend::gpu {

// Changes whenever the emitted text for some program does. Part of every key on disk.
inline constexpr std::string_view emitter_version = "2";

struct Wanted {
  std::string program = {};  // what is computed, in full
  emit::DeviceForm form = {};
  std::function<Result<emit::DeviceText>()> emit = {};  // called only when nothing is kept
};

struct Obtained {
  std::shared_ptr<const Module> module;
  std::vector<std::string> entries = {};
  bool is_new = false;       // compiled now
  std::string content = {};  // its key
};

Result<Obtained> obtain(Core& core, const Wanted& wanted);
// After its first use went well. What cannot be kept is compiled again another time.
void keep(Core& core, const Obtained& obtained);

}  // namespace calpe::backend::gpu
