// SPDX-License-Identifier: Apache-2.0
#include "calpe/predict/ptx_counts.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::tools {

namespace {

constexpr std::array<std::string_view, 16> alu_opcodes = {
    "xor", "and", "or",  "not", "lop3", "prmt", "shl",  "shr",
    "shf", "add", "sub", "min", "max",  "setp", "selp", "bfe"};

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

class Counter {
 public:
  Status take_line(std::string_view line) {
    ++number_;
    line = trimmed(line.substr(0, line.find("//")));
    if (line.find(".entry") != std::string_view::npos) ++counts_.entries;
    if (line == "{") is_inside_ = true;
    if (line == "}") {
      is_inside_ = false;
      labels_.clear();
    }
    const bool is_code = is_inside_ && !line.empty() && line[0] != '.' && line[0] != '{';
    return is_code ? take_code(line) : Status(Done{});
  }

  const PtxCounts& counts() const { return counts_; }

 private:
  Status take_code(std::string_view line) {
    if (line.back() == ':') {
      labels_.emplace(line.substr(0, line.size() - 1));
      return Done{};
    }
    if (line[0] == '@') line = trimmed(line.substr(std::min(line.find(' '), line.size())));
    const std::string_view opcode = line.substr(0, line.find_first_of(" ;"));
    const std::string_view base = opcode.substr(0, opcode.find('.'));
    if (base == "bra") {
      const std::string_view target = trimmed(line.substr(opcode.size()));
      if (labels_.contains(std::string(target.substr(0, target.find(';'))))) {
        return invalid("line ", number_, " of the PTX branches back to ", target,
                       " expected straight-line code");
      }
    }
    const bool is_alu =
        std::find(alu_opcodes.begin(), alu_opcodes.end(), base) != alu_opcodes.end();
    const std::size_t steps = is_alu && opcode.ends_with("64") ? 2 : 1;
    counts_.issue += steps;
    if (is_alu) counts_.alu += steps;
    return Done{};
  }

  PtxCounts counts_;
  std::set<std::string> labels_;  // seen so far in this entry
  bool is_inside_ = false;
  std::size_t number_ = 0;
};

}  // namespace

Result<PtxCounts> count_ptx(std::string_view text) {
  Counter counter;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    CALPE_CHECK(counter.take_line(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (counter.counts().entries == 0) return invalid("the PTX has no entry; expected at least 1");
  return counter.counts();
}

}  // namespace calpe::tools
