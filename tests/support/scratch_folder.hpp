// SPDX-License-Identifier: Apache-2.0
// A temporary directory for one test, removed with its contents.
#pragma once
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace calpe::tests {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::random_device random;
    do {
      folder_ = std::filesystem::temp_directory_path() / ("calpe-test-" + std::to_string(random()));
    } while (!std::filesystem::create_directory(folder_));
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace calpe::tests
