// SPDX-License-Identifier: Apache-2.0
#include "array/state/part_plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/try.hpp"

namespace calpe::array {

namespace {

unsigned count_of(std::uint64_t bits) {
  return static_cast<unsigned>(std::popcount(bits));
}

std::uint64_t first_bits(unsigned count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// Copies the new bytes over the old blocks.
void place_bytes(const PartPlan& plan, StripeBuffer& now) {
  std::byte* to = now.bytes.data() + plan.bytes.begin;  // data is stored shard by shard
  if (plan.bytes.from == nullptr) {
    std::memset(to, 0, plan.bytes.bytes);
  } else {
    std::memcpy(to, plan.bytes.from, plan.bytes.bytes);
  }
}

void copy_blocks(StripeBuffer& from, StripeBuffer& to, std::uint64_t shards, std::uint32_t first,
                 std::uint32_t count) {
  for (; shards != 0; shards &= shards - 1) {
    const auto shard = static_cast<unsigned>(std::countr_zero(shards));
    const auto bytes = from.blocks(shard, first, count);
    std::memcpy(to.blocks(shard, first, count).data(), bytes.data(), bytes.size());
  }
}

struct Run {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

Status add_deltas(const Codec& codec, const PartPlan& plan, StripeBuffer& old, StripeBuffer& now,
                  const Run& run) {
  std::array<ShardIndex, members_most> indices = {};
  std::array<Shard, members_most> parity = {};
  std::size_t used = 0;
  for (std::uint64_t left = plan.parity; left != 0; left &= left - 1) {
    const auto shard = static_cast<unsigned>(std::countr_zero(left));
    indices[used] = static_cast<ShardIndex>(shard);
    parity[used++] = now.blocks(shard, run.first, run.count);
  }
  if (used == 0) return Done{};
  for (std::uint64_t left = plan.columns[run.first].written; left != 0; left &= left - 1) {
    const auto shard = static_cast<unsigned>(std::countr_zero(left));
    const auto before = old.blocks(shard, run.first, run.count);
    const Codec::Change change{.data_index = static_cast<ShardIndex>(shard),
                               .offset = 0,
                               .shard_bytes = before.size(),
                               .parity_indices = std::span(indices).first(used)};
    CALPE_CHECK(codec.update(change, before, now.blocks(shard, run.first, run.count),
                             std::span(parity).first(used)));
  }
  return Done{};
}

}  // namespace

PartPlan plan_part(const MemberLayout& layout, const PartBytes& bytes, std::uint64_t having) {
  PartPlan plan;
  plan.bytes = bytes;
  plan.columns.resize(layout.columns);
  const std::uint64_t data = first_bits(layout.data);
  const std::uint64_t all_parity = first_bits(layout.roles()) & ~data;
  plan.parity = all_parity & having;
  plan.first_column = layout.columns;
  const std::uint64_t end = bytes.begin + bytes.bytes;
  for (std::uint64_t block = bytes.begin / block_bytes; block * block_bytes < end; ++block) {
    const auto column = static_cast<std::uint32_t>(block % layout.columns);
    const std::uint64_t bit = std::uint64_t{1} << (block / layout.columns);
    PartColumn& to = plan.columns[column];
    to.written |= bit;
    if (block * block_bytes < bytes.begin || (block + 1) * block_bytes > end) to.partly |= bit;
    plan.first_column = std::min(plan.first_column, column);
    plan.end_column = std::max(plan.end_column, column + 1);
  }
  for (PartColumn& column : plan.columns) {
    if (column.written == 0) continue;
    const std::uint64_t rest = (data & ~column.written) | column.partly;
    const std::uint64_t touched = column.written | plan.parity;
    // A missing shard would have to be decoded from k others.
    const auto cost = [&](std::uint64_t shards) {
      return count_of(shards) + ((shards & ~having) != 0 ? layout.data : 0);
    };
    column.is_delta = cost(touched) < cost(rest);
    column.read = column.is_delta ? touched : rest;
    column.changed = column.written | plan.parity;
  }
  return plan;
}

void set_needs(const PartPlan& plan, StripeBuffer& old) {
  for (std::uint32_t column = plan.first_column; column < plan.end_column; ++column) {
    for (std::uint64_t left = plan.columns[column].read; left != 0; left &= left - 1) {
      old.needs[old.at(static_cast<unsigned>(std::countr_zero(left)), column)] = 1;
    }
  }
}

void fill_zeros(const PartPlan& plan, StripeBuffer& old) {
  for (std::uint32_t column = plan.first_column; column < plan.end_column; ++column) {
    for (std::uint64_t left = plan.columns[column].read; left != 0; left &= left - 1) {
      const auto block = old.block(static_cast<unsigned>(std::countr_zero(left)), column);
      std::memset(block.data(), 0, block.size());
    }
  }
}

Status encode_columns(const Codec& codec, StripeBuffer& buffer, std::uint32_t first,
                      std::uint32_t count) {
  const unsigned data = codec.spec().data_shards;
  const unsigned parity = codec.spec().parity_shards;
  std::array<ConstShard, members_most> inputs = {};
  std::array<Shard, members_most> outputs = {};
  for (unsigned shard = 0; shard < data; ++shard) {
    inputs[shard] = buffer.blocks(shard, first, count);
  }
  for (unsigned i = 0; i < parity; ++i) {
    outputs[i] = buffer.blocks(data + i, first, count);
  }
  return codec.encode(std::span(inputs).first(data), std::span(outputs).first(parity));
}

Status compute_part(const Codec& codec, const PartPlan& plan, StripeBuffer& old,
                    StripeBuffer& now) {
  const auto for_each_run = [&](const auto& work) -> Status {
    std::uint32_t first = plan.first_column;
    while (first < plan.end_column) {
      std::uint32_t end = first + 1;
      while (end < plan.end_column && plan.columns[end] == plan.columns[first])
        ++end;
      if (plan.columns[first].written != 0) CALPE_CHECK(work(Run{first, end - first}));
      first = end;
    }
    return Done{};
  };
  CALPE_CHECK(for_each_run([&](const Run& run) -> Status {
    const PartColumn& column = plan.columns[run.first];
    copy_blocks(old, now, column.is_delta ? column.partly | plan.parity : column.read, run.first,
                run.count);
    return Done{};
  }));
  place_bytes(plan, now);
  return for_each_run([&](const Run& run) -> Status {
    if (plan.columns[run.first].is_delta) return add_deltas(codec, plan, old, now, run);
    return encode_columns(codec, now, run.first, run.count);
  });
}

}  // namespace calpe::array
