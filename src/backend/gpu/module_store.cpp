// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/module_store.hpp"

#include <chrono>
#include <span>
#include <sstream>

#include "base/dump.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "kernel_cache/identity.hpp"

namespace calpe::backend::gpu {

namespace {

using Clock = std::chrono::steady_clock;

std::string form_text(const emit::DeviceForm& form) {
  return text(emit::name_of(form.language), " word ", form.word_bytes,
              form.any_alignment ? " unaligned" : "", " stride ", form.unit_stride,
              form.accumulate ? " accumulate" : "", " items ", form.group_items, " reduction ",
              form.reduction);
}

std::string content_of(const Core& core, const Wanted& wanted) {
  return kernel::content({.target = "device",
                          .compiler = core.info().identity,
                          .flags = {text("emitter ", emitter_version), form_text(wanted.form)},
                          .source = wanted.program});
}

// File format: row groups and bytes of a word, names of entries, one per line, an empty line, then
// the driver's binary.
std::string pack(const Obtained& obtained, std::span<const std::byte> binary) {
  std::string object = text(obtained.row_groups, " ", obtained.word_bytes, "\n");
  for (const std::string& entry : obtained.entries)
    object += entry + "\n";
  object += "\n";
  object.append(reinterpret_cast<const char*>(binary.data()), binary.size());
  return object;
}

struct Kept {
  std::uint32_t row_groups = 0;
  std::size_t word_bytes = 0;
  std::vector<std::string> entries = {};
  std::span<const std::byte> binary = {};
};

Kept unpack(const std::string& object) {
  Kept kept;
  std::size_t at = object.find('\n') + 1;
  std::istringstream(object.substr(0, at)) >> kept.row_groups >> kept.word_bytes;
  if (kept.row_groups == 0 || kept.word_bytes == 0) return {};
  while (true) {
    const std::size_t end = object.find('\n', at);
    if (end == std::string::npos) return {};
    if (end == at) break;
    kept.entries.push_back(object.substr(at, end - at));
    at = end + 1;
  }
  kept.binary = std::as_bytes(std::span(object)).subspan(at + 1);
  return kept;
}

Result<Obtained> build(Core& core, const Wanted& wanted, std::string content) {
  CALPE_TRY(const emit::DeviceText device_text, wanted.emit());
  if (is_dumping()) {
    dump(emit::file_name_of(wanted.form.language), device_text.text);
  }
  const Clock::time_point start = Clock::now();
  CALPE_TRY(std::unique_ptr<Module> module, core.driver->build(device_text, wanted.form));
  const std::chrono::duration<double> took = Clock::now() - start;
  core.counters.builds.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(core.counters.mutex);
    core.counters.build_seconds += took.count();
  }
  return Obtained{.module = std::move(module),
                  .entries = device_text.entries,
                  .row_groups = device_text.row_groups,
                  .word_bytes = device_text.word_bytes,
                  .is_new = true,
                  .content = std::move(content)};
}

}  // namespace

Result<Obtained> obtain(Core& core, const Wanted& wanted) {
  std::string content = content_of(core, wanted);
  if (core.disk) {
    if (const std::optional<std::string> object = core.disk->find(content)) {
      const Kept kept = unpack(*object);
      if (!kept.entries.empty() && !kept.binary.empty()) {
        Result<std::unique_ptr<Module>> module =
            core.driver->load(kept.binary, {.text = {}, .entries = kept.entries}, wanted.form);
        if (module) {
          return Obtained{.module = *std::move(module),
                          .entries = kept.entries,
                          .row_groups = kept.row_groups,
                          .word_bytes = kept.word_bytes,
                          .is_new = false,
                          .content = std::move(content)};
        }
      }
    }
  }
  return build(core, wanted, std::move(content));
}

void keep(Core& core, const Obtained& obtained) {
  if (!core.disk || !obtained.is_new) return;
  const Result<std::vector<std::byte>> binary = core.driver->binary(*obtained.module);
  if (!binary || binary->empty()) return;
  static_cast<void>(core.disk->put(obtained.content, pack(obtained, *binary)));
}

}  // namespace calpe::backend::gpu
