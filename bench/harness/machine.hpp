// SPDX-License-Identifier: Apache-2.0
// Where the figures come from: without it nobody can compare them.
#pragma once
#include <string>
#include <vector>

namespace calpe::bench {

struct CacheInfo {
  int level = 0;
  std::string kind;  // "Data", "Unified"
  std::string size;  // "48K", as the kernel prints it
};

struct MachineInfo {
  std::string cpu;  // model name; empty fields mean that the system does not say
  unsigned cpu_count = 0;
  std::vector<CacheInfo> caches;  // of the first CPU, instruction caches left out
  std::string kernel;             // "Linux 6.1.0"
  std::string huge_pages;         // "madvise"
  double load_average = 0;        // of the last minute, at the start
  std::string compiler;           // that built this harness
  std::string calpe_version;
};

MachineInfo describe_machine();

}  // namespace calpe::bench
