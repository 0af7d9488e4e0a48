// SPDX-License-Identifier: Apache-2.0
// The order of work in a device kernel, in any language. An input shard's address and words are
// loaded at their first use, and an output is stored when it is ready, so that few values are held.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "emit/device_kernel.hpp"
#include "emit/equations.hpp"
#include "ir/program.hpp"

namespace calpe::emit {

inline constexpr unsigned planes_per_byte = 8;

enum class DeviceStyle : std::uint8_t { units, planes, sliced };

// The entry of the source code. Everything it refers to must outlive it.
struct DeviceEntry {
  const DeviceShape& shape;
  std::span<const RowGroup> groups;
  const DeviceForm& form;
  DeviceStyle style = DeviceStyle::units;
  std::string name;
};

// Through the program of one row group.
class DeviceWalk {
 public:
  // Keeps the words of this many inputs; the least recently used is loaded again.
  DeviceWalk(const DeviceEntry& entry, const RowGroup& group, std::size_t kept_inputs_max);
  virtual ~DeviceWalk() = default;
  DeviceWalk(const DeviceWalk&) = delete;
  DeviceWalk& operator=(const DeviceWalk&) = delete;

 protected:
  const DeviceEntry& entry() const noexcept { return entry_; }
  const RowGroup& group() const noexcept { return group_; }
  const ir::Program& program() const noexcept { return group_.program; }

  void load_all();  // every input that is read
  void walk();
  // True if the sum of the output has no terms.
  bool is_zero(ir::Value output) const { return is_zero_[output]; }

 private:
  virtual void open_input(std::uint32_t shard) = 0;
  // Called after its shard is opened; with bit slices, only for the first of a shard.
  virtual void load(ir::Value input) = 0;
  virtual void add_up(const ir::Instruction& instruction) = 0;
  virtual void put_unit(std::uint32_t output) = 0;  // output of the program
  // Called when all planes of the shard are ready; `shard` counts from the group's first.
  virtual void put_shard(std::uint32_t shard) = 0;

  void load_unless_kept(ir::Value input);
  void put(ir::Value output);

  const DeviceEntry& entry_;
  const RowGroup& group_;
  const std::size_t kept_inputs_max_;
  Needs needs_;
  std::vector<bool> is_open_;  // by input shard
  std::uint32_t inputs_per_shard_;
  std::deque<ir::Value> kept_;    // inputs, most recently used first
  std::vector<bool> is_zero_;     // by value
  std::vector<unsigned> planes_;  // by output shard of the group: planes that are ready
};

// The 8 words of 4 bytes of a work-item have bit r of every byte in word r after these exchanges,
// in order: of the bits `upper` of word `first` with the others of word `second`, `shift` bits
// lower. The same exchanges again restore the words.
struct BitExchange {
  unsigned first = 0;
  unsigned second = 0;
  unsigned shift = 0;
  std::uint32_t lower = 0;  // the bits that stay in `first`
};
std::span<const BitExchange> bit_exchanges();

// Without checks. The same entries give the same source code.
std::string opencl_prelude(const DeviceForm& form);
std::string opencl_kernel(const DeviceEntry& entry);
std::string opencl_table(TableStyle style, const DeviceForm& form, std::string_view name);
std::string ptx_prelude();
std::string ptx_kernel(const DeviceEntry& entry);
std::string ptx_table(TableStyle style, const DeviceForm& form, std::string_view name);
// Whole modules.
std::string spirv_kernel(const DeviceEntry& entry);
std::string spirv_table(TableStyle style, const DeviceForm& form, std::string_view name);

}  // namespace calpe::emit
