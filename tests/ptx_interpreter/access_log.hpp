// SPDX-License-Identifier: Apache-2.0
// Which bytes of device memory a launch read and wrote. Neighbouring accesses of one instruction
// are one interval, so that the log stays short.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace calpe::ptx {

struct Interval {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t line = 0;
};

class AccessLog {
 public:
  explicit AccessLog(std::size_t instructions) : last_(instructions, none) {}

  void add(std::size_t instruction, const Interval& interval, bool is_write, bool is_read_only);

  // Empty when fine. Nothing may be read through the read-only cache (ld.global.nc) that the same
  // launch writes, and no byte may be written twice: both depend on the order of threads.
  std::string find_conflict() const;
  const std::vector<Interval>& writes() const { return writes_; }
  std::vector<Interval> all_reads() const;

 private:
  static constexpr std::size_t none = SIZE_MAX;
  std::vector<std::size_t> last_;     // of each instruction, in its list
  std::vector<Interval> reads_ = {};  // read-only ones
  std::vector<Interval> other_reads_ = {};
  std::vector<Interval> writes_ = {};
};

}  // namespace calpe::ptx
