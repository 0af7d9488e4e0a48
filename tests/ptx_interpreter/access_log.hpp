// SPDX-License-Identifier: Apache-2.0
// Records which bytes of device memory a launch reads and writes. Adjacent accesses of one
// instruction form one interval, to keep the log short.
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

  // Returns an error or an empty string. A launch must not write what it reads through the
  // read-only cache (ld.global.nc), nor write a byte twice: both depend on the order of threads.
  std::string find_conflict() const;
  const std::vector<Interval>& writes() const { return writes_; }
  std::vector<Interval> all_reads() const;

 private:
  static constexpr std::size_t none = SIZE_MAX;
  std::vector<std::size_t> last_;     // by instruction: last index in its list
  std::vector<Interval> reads_ = {};  // read-only accesses
  std::vector<Interval> other_reads_ = {};
  std::vector<Interval> writes_ = {};
};

}  // namespace calpe::ptx
