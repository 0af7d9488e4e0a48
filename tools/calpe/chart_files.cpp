// SPDX-License-Identifier: Apache-2.0
#include "calpe/chart_files.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::tools {

namespace {

Status write_file(const std::string& path, const std::string& content) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content << std::flush;
  if (file) return Done{};
  const int reason = errno;  // of the last call of the system, if the library keeps it
  return make_error(ErrorCode::io, "cannot write ", path, ": ",
                    reason == 0 ? "no reason given" : std::generic_category().message(reason));
}

}  // namespace

Result<std::vector<std::string>> write_charts(const std::string& folder,
                                              const std::vector<NamedChart>& charts) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return make_error(ErrorCode::io, "cannot create the folder ", folder, ": ", error.message());
  std::vector<std::string> paths;
  for (const NamedChart& each : charts) {
    paths.push_back((std::filesystem::path(folder) / each.name).string());
    CALPE_CHECK(write_file(paths.back(), to_svg(each.chart)));
  }
  return paths;
}

}  // namespace calpe::tools
