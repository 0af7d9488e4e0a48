// SPDX-License-Identifier: Apache-2.0
#include "calpe/predict/ptx_counts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::tools {

namespace {

constexpr std::array alu_opcodes = {
    std::string_view("xor"),  std::string_view("and"),  std::string_view("or"),
    std::string_view("not"),  std::string_view("lop3"), std::string_view("prmt"),
    std::string_view("shr"),  std::string_view("shf"),  std::string_view("add"),
    std::string_view("sub"),  std::string_view("min"),  std::string_view("max"),
    std::string_view("setp"), std::string_view("selp"), std::string_view("bfe")};

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

struct Line {
  std::size_t number = 0;
  std::string_view guard = {};
  std::string_view opcode = {};
  std::string_view operands = {};  // or the name of a label, if there is no opcode
};

// Labels and instructions of the only entry.
Result<std::vector<Line>> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::size_t entries = 0;
  bool is_inside = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find("//")));
    if (line.find(".entry") != std::string_view::npos) ++entries;
    if (line == "{" || line == "}") is_inside = line == "{";
    if (!is_inside || line.empty() || line[0] == '.' || line[0] == '{') continue;
    Line& made = lines.emplace_back(Line{.number = number});
    if (line.back() == ':') {
      made.operands = line.substr(0, line.size() - 1);
      continue;
    }
    if (line[0] == '@') {
      const std::size_t space = std::min(line.find(' '), line.size());
      made.guard = line.substr(1, space - 1);
      line = trimmed(line.substr(space));
    }
    made.opcode = line.substr(0, line.find_first_of(" ;"));
    line = trimmed(line.substr(made.opcode.size()));
    made.operands = line.substr(0, line.find(';'));
  }
  if (entries != 1) return invalid("the PTX has ", entries, " entries; expected 1");
  return lines;
}

class Counter {
 public:
  explicit Counter(const std::vector<Line>& lines) : lines_(lines) {}

  Status take(std::size_t row_group) {
    bool is_other = false;
    for (std::size_t at = 0; at < lines_.size(); ++at) {
      const Line& line = lines_[at];
      if (line.opcode.empty()) continue;
      count(line.opcode);
      constexpr std::string_view compared = "is_other, row_group, ";
      if (line.opcode == "setp.ne.u32" && line.operands.starts_with(compared)) {
        const std::string_view digits = line.operands.substr(compared.size());
        std::size_t number = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
        is_other = number != row_group;
      }
      if (line.opcode != "bra") continue;
      const auto target = std::ranges::find_if(lines_, [&](const Line& label) {
        return label.opcode.empty() && label.operands == line.operands;
      });
      const auto place = static_cast<std::size_t>(target - lines_.begin());
      if (place <= at) {
        return invalid("line ", line.number, " of the PTX branches back to ", line.operands,
                       "; expected no loops");
      }
      if (line.guard.empty() || (line.guard == "is_other" && is_other)) at = place;
    }
    return Done{};
  }

  const PtxCounts& counts() const { return counts_; }

 private:
  void count(std::string_view opcode) {
    const std::string_view base = opcode.substr(0, opcode.find('.'));
    const bool is_alu =
        std::find(alu_opcodes.begin(), alu_opcodes.end(), base) != alu_opcodes.end();
    // The second half of 64-bit additions is a multiplication in machine code.
    counts_.issue += is_alu && opcode.ends_with("64") ? 2 : 1;
    if (is_alu) ++counts_.alu;
  }

  const std::vector<Line>& lines_;
  PtxCounts counts_;
};

}  // namespace

Result<PtxCounts> count_ptx(std::string_view text, std::size_t row_groups) {
  CALPE_TRY(const std::vector<Line> lines, lines_of(text));
  Counter counter(lines);
  for (std::size_t row_group = 0; row_group < row_groups; ++row_group)
    CALPE_CHECK(counter.take(row_group));
  return counter.counts();
}

}  // namespace calpe::tools
