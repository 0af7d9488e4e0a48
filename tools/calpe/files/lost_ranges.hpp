// SPDX-License-Identifier: Apache-2.0
// Lists the bytes of files that no shard has any more.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "store/format/content_ranges.hpp"

namespace calpe::tools {

struct LostFile {
  std::string path;
  std::vector<store::ContentRange> ranges;  // offsets in the file
};

// Content that was lost so far.
class LostContent {
 public:
  void add(store::ContentRange range);
  // True if the file contains any of it.
  bool is_in(const store::Entry& entry) const;
  std::vector<store::ContentRange> ranges() const;  // merged

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by begin, with a gap between any two ranges
};

// The files that contain any of the lost content.
std::vector<LostFile> lost_files(const store::Manifest& manifest,
                                 std::vector<store::ContentRange> lost_content);

// Prints a line for each range to standard error, the first 20 of each file. `outcome` completes
// it: "bytes 0 to 99 are lost; filled with zeros".
void print_lost_files(std::string_view verb, const std::vector<LostFile>& files,
                      std::string_view outcome);
nlohmann::ordered_json to_json(const std::vector<LostFile>& files);

}  // namespace calpe::tools
