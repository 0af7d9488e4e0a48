// SPDX-License-Identifier: Apache-2.0
// Description of the machine that a run was measured on.
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
  std::string cpu;  // model name; any field may be empty if unknown
  unsigned cpu_count = 0;
  std::vector<CacheInfo> caches;  // of the first CPU, without instruction caches
  std::string kernel;             // "Linux 6.1.0"
  std::string huge_pages;         // "madvise"
  double load_average = 0;        // of the last minute, at the start
  std::string compiler;           // used to build this harness
  std::string calpe_version;
};

MachineInfo describe_machine();

}  // namespace calpe::bench
