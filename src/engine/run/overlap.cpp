// SPDX-License-Identifier: Apache-2.0
#include "engine/run/overlap.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/text.hpp"

namespace calpe::engine {

namespace {

struct Extent {  // without initialisers: an array of them is not zeroed
  std::uintptr_t begin;
  std::uintptr_t end;
};

template <class Bytes>
Extent extent(Bytes bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  return {begin, begin + bytes.size()};
}

bool overlap(Extent a, Extent b) noexcept {
  return a.begin < b.end && b.begin < a.end && a.begin != a.end && b.begin != b.end;
}

// True if the outputs ascend without overlap and no input lies between the first and the last.
// `to_extent` converts an element of either list to an extent.
template <class Inputs, class Outputs, class ToExtent>
bool obviously_apart(const Inputs& inputs, const Outputs& outputs,
                     const ToExtent& to_extent) noexcept {
  Extent hull = to_extent(outputs.front());
  for (const auto& output : outputs.subspan(1)) {
    const Extent next = to_extent(output);
    if (next.begin < hull.end) return false;
    hull.end = next.end;
  }
  return std::ranges::none_of(inputs,
                              [&](const auto& input) { return overlap(to_extent(input), hull); });
}

// Sorts the outputs, then looks up each input.
template <class Inputs, class Outputs, class ToExtent>
bool are_apart_sorted(const Inputs& inputs, const Outputs& outputs, const ToExtent& to_extent) {
  std::vector<Extent> sorted;
  for (const auto& output : outputs) {
    const Extent next = to_extent(output);
    if (next.begin != next.end) sorted.push_back(next);
  }
  std::ranges::sort(sorted, {}, &Extent::begin);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].begin < sorted[i - 1].end) return false;
  }
  return std::ranges::none_of(inputs, [&](const auto& each) {
    const Extent input = to_extent(each);
    const auto next = std::ranges::upper_bound(sorted, input.begin, {}, &Extent::end);
    return next != sorted.end() && overlap(*next, input);
  });
}

template <class Inputs, class Outputs, class ToExtent>
std::optional<Overlap> find_extents(const Inputs& inputs, const Outputs& outputs,
                                    const ToExtent& to_extent) {
  if (outputs.empty() || obviously_apart(inputs, outputs, to_extent)) return std::nullopt;
  // Comparing every pair takes long for thousands of shards.
  if (inputs.size() + outputs.size() > byte_shard_count_max &&
      are_apart_sorted(inputs, outputs, to_extent)) {
    return std::nullopt;
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const Extent output = to_extent(outputs[o]);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (overlap(output, to_extent(inputs[i]))) {
        return Overlap{.output = o, .other = i, .is_input = true};
      }
    }
    for (std::size_t other = 0; other < o; ++other) {
      if (overlap(output, to_extent(outputs[other]))) {
        return Overlap{.output = o, .other = other, .is_input = false};
      }
    }
  }
  return std::nullopt;
}

Status refuse(const std::optional<Overlap>& found, const StripeNames& names) {
  if (!found) return Done{};
  return overlap_error(
      {.list = names.writes(), .index = found->output},
      {.list = found->is_input ? names.reads() : names.writes(), .index = found->other});
}

}  // namespace

Error overlap_error(const ShardName& output, const ShardName& other) {
  return invalid(output, " overlaps ", other, "; expected separate memory");
}

std::optional<Overlap> find_overlap(std::span<const ConstShard> inputs,
                                    std::span<const Shard> outputs) {
  return find_extents(inputs, outputs, [](const auto& shard) { return extent(shard); });
}

Status check_overlap(std::span<const ConstShard> inputs, std::span<const Shard> outputs,
                     const StripeNames& names) {
  return refuse(find_overlap(inputs, outputs), names);
}

Status check_overlap(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     std::size_t bytes) {
  return refuse(
      find_extents(inputs, outputs,
                   [bytes](const std::byte* shard) { return extent(ConstShard(shard, bytes)); }),
      {});
}

namespace {

// Names the first pair that overlaps; compares every pair.
Status name_overlap(std::span<const ConstShardPieces> inputs, std::span<const ShardPieces> outputs,
                    const StripeNames& names) {
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    for (std::size_t p = 0; p < outputs[o].size(); ++p) {
      const Extent output = extent(outputs[o][p]);
      const ShardName name = {.list = names.writes(), .index = o, .piece = p};
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        for (std::size_t q = 0; q < inputs[i].size(); ++q) {
          if (!overlap(output, extent(inputs[i][q]))) continue;
          return overlap_error(name, {.list = names.reads(), .index = i, .piece = q});
        }
      }
      for (std::size_t other = 0; other <= o; ++other) {
        const std::size_t end = other == o ? p : outputs[other].size();
        for (std::size_t q = 0; q < end; ++q) {
          if (!overlap(output, extent(outputs[other][q]))) continue;
          return overlap_error(name, {.list = names.writes(), .index = other, .piece = q});
        }
      }
    }
  }
  return Done{};
}

// Sorts the output pieces, then looks up each input piece. Pages of a buffer cache come in any
// order, and a shard of 1 MiB has 256 of them.
bool are_apart(std::span<const ConstShardPieces> inputs, std::span<const ShardPieces> outputs,
               std::span<Extent> room) {
  std::size_t count = 0;
  for (const ShardPieces& pieces : outputs) {
    for (const Shard& piece : pieces) {
      if (!piece.empty()) room[count++] = extent(piece);
    }
  }
  const std::span<Extent> sorted = room.first(count);
  if (sorted.empty()) return true;
  if (!std::ranges::is_sorted(sorted, {}, &Extent::begin)) {
    std::ranges::sort(sorted, {}, &Extent::begin);
  }
  for (std::size_t i = 1; i < count; ++i) {
    if (sorted[i].begin < sorted[i - 1].end) return false;
  }
  const Extent hull = {sorted.front().begin, sorted.back().end};
  for (const ConstShardPieces& pieces : inputs) {
    for (const ConstShard& piece : pieces) {
      const Extent input = extent(piece);
      if (!overlap(input, hull)) continue;
      const auto next = std::ranges::upper_bound(sorted, input.begin, {}, &Extent::end);
      if (next != sorted.end() && overlap(*next, input)) return false;
    }
  }
  return true;
}

}  // namespace

Status check_overlap(std::span<const ConstShardPieces> inputs, std::span<const ShardPieces> outputs,
                     const StripeNames& names) {
  std::size_t count = 0;
  for (const ShardPieces& pieces : outputs)
    count += pieces.size();
  std::array<Extent, 1024> on_stack;
  std::vector<Extent> on_heap(count > on_stack.size() ? count : 0);
  const std::span<Extent> room = on_heap.empty() ? std::span<Extent>(on_stack) : on_heap;
  if (are_apart(inputs, outputs, room)) return Done{};
  return name_overlap(inputs, outputs, names);
}

}  // namespace calpe::engine
