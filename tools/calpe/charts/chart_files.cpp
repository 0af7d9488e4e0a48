// SPDX-License-Identifier: Apache-2.0
#include "calpe/charts/chart_files.hpp"

#include <filesystem>
#include <system_error>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::tools {

Result<std::vector<std::string>> write_charts(const std::string& folder,
                                              const std::vector<NamedChart>& charts) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return make_error(ErrorCode::io, folder, ": cannot create the directory: ", error.message());
  std::vector<std::string> paths;
  for (const NamedChart& each : charts) {
    paths.push_back((std::filesystem::path(folder) / each.name).string());
    CALPE_CHECK(replace_file(paths.back(), to_svg(each.chart), Readers::as_umask_says));
  }
  return paths;
}

}  // namespace calpe::tools
