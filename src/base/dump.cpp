// SPDX-License-Identifier: Apache-2.0
#include "base/dump.hpp"

#include <atomic>
#include <string>
#include <unistd.h>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/private_folder.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe {

namespace {

constexpr const char* folder_variable = "CALPE_DUMP";

Status write_dump(const std::string& folder_path, std::string_view name,
                  std::span<const std::byte> content) {
  static std::atomic<unsigned> number{0};
  CALPE_TRY(const PrivateFolder folder, PrivateFolder::open(folder_path));
  return folder.create(
      text(getpid(), "-", number++, "-", name),
      std::string_view(reinterpret_cast<const char*>(content.data()), content.size()));
}

}  // namespace

bool is_dumping() {
  return environment(folder_variable).has_value();
}

void dump(std::string_view name, std::span<const std::byte> content) {
  const auto folder = environment(folder_variable);
  if (!folder) return;
  static std::atomic<bool> is_told = false;
  if (const Status done = write_dump(*folder, name, content); !done && !is_told.exchange(true)) {
    logging::write(text("CALPE_DUMP: ", done.error().message));
  }
}

void dump(std::string_view name, std::string_view content) {
  dump(name, std::as_bytes(std::span(content)));
}

}  // namespace calpe
