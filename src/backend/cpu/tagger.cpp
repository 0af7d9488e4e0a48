// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/tagger.hpp"

#include <algorithm>

#include "backend/cpu/coefficient_tables.hpp"
#include "base/assert.hpp"

namespace calpe::backend::cpu {

namespace {

constexpr std::size_t segment_bytes = tag_segment_digits * tag_digit_bytes;
static_assert(tag_segment_digits % tag_state_digits == 0);

struct Constant {
  std::uint16_t polynomial;
  std::uint8_t c;
};

// All fields of 256 elements. Part of the format; a test derives them again.
constexpr std::array constants = {
    Constant{0x11B, 0x06}, Constant{0x11D, 0x06}, Constant{0x12B, 0x02}, Constant{0x12D, 0x07},
    Constant{0x139, 0x07}, Constant{0x13F, 0x03}, Constant{0x14D, 0x03}, Constant{0x15F, 0x02},
    Constant{0x163, 0x02}, Constant{0x165, 0x03}, Constant{0x169, 0x4C}, Constant{0x171, 0x06},
    Constant{0x177, 0x06}, Constant{0x17B, 0x25}, Constant{0x187, 0x0A}, Constant{0x18B, 0x0A},
    Constant{0x18D, 0x13}, Constant{0x19F, 0x12}, Constant{0x1A3, 0x12}, Constant{0x1A9, 0x06},
    Constant{0x1B1, 0x07}, Constant{0x1BD, 0x09}, Constant{0x1C3, 0x06}, Constant{0x1CF, 0x12},
    Constant{0x1D7, 0x0E}, Constant{0x1DD, 0x07}, Constant{0x1E7, 0x12}, Constant{0x1F3, 0x0A},
    Constant{0x1F5, 0x13}, Constant{0x1F9, 0x0C},
};

}  // namespace

gf::Element tag_constant(const gf::Field& field) noexcept {
  const auto found = std::ranges::find(constants, field.polynomial(), &Constant::polynomial);
  CALPE_ASSERT(field.word_bits() == 8 && found != constants.end());
  return found->c;
}

Tagger::Tagger(const gf::Field& field, const CpuKernels& kernels)
    : kernels_(kernels.tags),
      tables_(tag_table_count * table_entry_bytes(kernels.table_kind)),
      product_rows_(kernels.table_kind == TableKind::product_row ? tag_table_count * 256 : 0) {
  gf::Element power = tag_constant(field);
  for (std::size_t i = tag_table_count; i-- > 0; power = field.multiply(power, power)) {
    fill_table(field, kernels.table_kind, power,
               tables_.data() + i * table_entry_bytes(kernels.table_kind),
               product_rows_.empty() ? nullptr : product_rows_.data() + i * 256);
  }
}

void Tagger::end_segment(TagState& state) const noexcept {
  const std::size_t digits = (state.position + tag_digit_bytes - 1) / tag_digit_bytes;
  kernels_.absorb(state.sums.data(), state.digits.data(), digits % tag_state_digits,
                  tables_.data());
  state.digits.fill(std::byte{0});
  state.position = 0;
}

void Tagger::take(TagState& state, const std::byte* from, std::size_t bytes) const noexcept {
  while (bytes > 0) {
    const std::size_t count = std::min(bytes, segment_bytes - state.position);
    kernels_.take(state.digits.data(), state.position / tag_digit_bytes, from, count);
    state.position += count;
    from += count;
    bytes -= count;
    if (state.position == segment_bytes) end_segment(state);
  }
}

void Tagger::finish(std::span<TagState> states, std::byte* tags) const noexcept {
  for (TagState& state : states) {
    if (state.position > 0) end_segment(state);
  }
  for (std::size_t first = 0; first < states.size(); first += tag_fold_max) {
    kernels_.fold(tags + first * tag_bytes, states[first].sums.data(), sizeof(TagState),
                  std::min(tag_fold_max, states.size() - first), tables_.data());
  }
}

void Tagger::tag(std::span<const ConstShard> shards, std::byte* tags) const noexcept {
  for (std::size_t first = 0; first < shards.size(); first += tag_fold_max) {
    std::array<TagState, tag_fold_max> states;
    const std::size_t count = std::min(tag_fold_max, shards.size() - first);
    for (std::size_t i = 0; i < count; ++i)
      take(states[i], shards[first + i].data(), shards[first + i].size());
    finish(std::span(states).first(count), tags + first * tag_bytes);
  }
}

}  // namespace calpe::backend::cpu
