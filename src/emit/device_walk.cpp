// SPDX-License-Identifier: Apache-2.0
#include "emit/device_walk.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace calpe::emit {

DeviceWalk::DeviceWalk(const DeviceEntry& entry, const RowGroup& group, std::size_t kept_inputs_max)
    : entry_(entry),
      group_(group),
      kept_inputs_max_(kept_inputs_max),
      needs_(group.program),
      is_open_(entry.shape.input_shards),
      inputs_per_shard_(entry.style == DeviceStyle::sliced ? planes_per_byte
                                                           : entry.shape.unit_count),
      is_zero_(group.program.values()),
      planes_(group.program.outputs() / planes_per_byte) {
  for (const ir::Instruction& instruction : program().instructions())
    is_zero_[instruction.target] = instruction.term_count == 0;
}

void DeviceWalk::load_unless_kept(ir::Value input) {
  const auto found = std::ranges::find(kept_, input);
  const bool is_kept = found != kept_.end();
  if (is_kept) kept_.erase(found);
  kept_.push_front(input);
  if (kept_.size() > kept_inputs_max_) kept_.pop_back();
  if (is_kept) return;
  const std::uint32_t shard = input / inputs_per_shard_;
  const bool was_open = is_open_[shard];
  if (!was_open) open_input(shard);
  is_open_[shard] = true;
  if (!was_open || entry_.style != DeviceStyle::sliced) load(input);
}

void DeviceWalk::load_all() {
  for (ir::Value input = 0; input < program().inputs(); ++input) {
    if (needs_.is_read[input]) load_unless_kept(input);
  }
}

void DeviceWalk::walk() {
  planes_.assign(planes_.size(), 0);
  for (const ir::Instruction& instruction : program().instructions()) {
    const ir::Value target = instruction.target;
    if (!needs_.is_needed[target]) continue;
    for (const ir::Term& term : program().terms(instruction)) {
      if (program().is_input(term.value)) load_unless_kept(term.value);
    }
    // A unit that is zero must be written; a plane need not be.
    const bool is_skipped =
        entry_.style == DeviceStyle::planes && is_zero_[target] && !needs_.is_read[target];
    if (!is_skipped) add_up(instruction);
    if (program().is_output(target)) put(target);
  }
}

void DeviceWalk::put(ir::Value output) {
  const std::uint32_t index = output - program().inputs();
  if (entry_.style == DeviceStyle::units) {
    put_unit(index);
  } else if (++planes_[index / planes_per_byte] == planes_per_byte) {
    put_shard(index / planes_per_byte);
  }
}

std::span<const BitExchange> bit_exchanges() {
  static constexpr auto all = [] {
    std::array<BitExchange, 12> made = {};
    std::size_t count = 0;
    for (const auto& [distance, lower] :
         {std::pair{4U, 0x0F0F0F0FU}, std::pair{2U, 0x33333333U}, std::pair{1U, 0x55555555U}}) {
      for (unsigned first = 0; first < planes_per_byte; ++first) {
        if ((first & distance) != 0) continue;
        made[count++] = {
            .first = first, .second = first + distance, .shift = distance, .lower = lower};
      }
    }
    return made;
  }();
  return all;
}

}  // namespace calpe::emit
