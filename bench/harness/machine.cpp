// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/machine.hpp"

#include <cstdlib>
#include <fstream>
#include <sys/utsname.h>
#include <thread>

#include <calpe/codec.hpp>

namespace calpe::bench {

namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    // Arm kernels print no model name, only implementer and part numbers.
    if (line.rfind("model name", 0) != 0 && line.rfind("CPU part", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? line : line.substr(colon + 2);
  }
  return {};
}

std::vector<CacheInfo> read_caches() {
  std::vector<CacheInfo> caches;
  for (int index = 0;; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string level = first_line(folder + "level");
    if (level.empty()) return caches;
    CacheInfo cache{std::atoi(level.c_str()), first_line(folder + "type"),
                    first_line(folder + "size")};
    if (cache.kind != "Instruction") caches.push_back(std::move(cache));
  }
}

// "always [madvise] never": the active choice is in brackets.
std::string huge_page_setting() {
  std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']');
  if (open == std::string::npos || close == std::string::npos) return line;
  return line.substr(open + 1, close - open - 1);
}

}  // namespace

MachineInfo describe_machine() {
  MachineInfo machine;
  machine.cpu = cpu_model();
  machine.cpu_count = std::thread::hardware_concurrency();
  machine.caches = read_caches();
  if (utsname name{}; uname(&name) == 0)
    machine.kernel = std::string(name.sysname) + " " + name.release;
  machine.huge_pages = huge_page_setting();
  if (double load = 0; getloadavg(&load, 1) == 1) machine.load_average = load;
#if defined(__clang__)
  machine.compiler = "clang " __clang_version__;
#else
  machine.compiler = "g++ " __VERSION__;
#endif
  machine.calpe_version = version();
  return machine;
}

}  // namespace calpe::bench
