// SPDX-License-Identifier: Apache-2.0
#include "base/dump.hpp"

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <unistd.h>

#include "base/env.hpp"
#include "base/text.hpp"

namespace calpe {

namespace {
constexpr const char* folder_variable = "CALPE_DUMP";
}

bool is_dumping() {
  return environment(folder_variable).has_value();
}

void dump(std::string_view name, std::span<const std::byte> content) {
  static std::atomic<unsigned> number{0};
  const auto folder = environment(folder_variable);
  if (!folder) return;
  const std::string path = text(*folder, "/", getpid(), "-", number++, "-", name);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                             &std::fclose);
  if (file) std::fwrite(content.data(), 1, content.size(), file.get());
}

void dump(std::string_view name, std::string_view content) {
  dump(name, std::as_bytes(std::span(content)));
}

}  // namespace calpe
