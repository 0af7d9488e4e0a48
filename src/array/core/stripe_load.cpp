// SPDX-License-Identifier: Apache-2.0
// Blocks of one stripe, whatever it takes: from memory, from their member, or decoded from others.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "array/core/array_core.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

struct Indices {
  std::array<ShardIndex, members_most> all = {};
  std::size_t count = 0;
  explicit Indices(std::uint64_t shards) {
    for (; shards != 0; shards &= shards - 1) {
      all[count++] = static_cast<ShardIndex>(std::countr_zero(shards));
    }
  }
  std::span<const ShardIndex> span() const { return std::span(all).first(count); }
};

}  // namespace

Core::Source Core::source(const StripeAt& at, std::uint32_t column, unsigned role, std::byte* to) {
  if (const auto newer = overlay_.find(at.stripe, column, role, to)) return *newer;
  std::uint64_t check = unknown_check;
  table_.get(role, layout_.table_index(at.slot, column), std::span(&check, 1));
  const BlockPlace place{role, at.stripe, at.slot, column};
  if (check == check_.of_zeros(place)) {
    std::memset(to, 0, block_bytes);
    return {.is_copied = true, .check = check};
  }
  return {.is_copied = false, .check = check};
}

std::uint64_t Core::good_shards(const StripeBuffer& buffer, std::uint32_t column) const {
  std::uint64_t shards = 0;
  for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
    if (buffer.states[buffer.at(shard, column)] == BlockState::good) {
      shards |= std::uint64_t{1} << shard;
    }
  }
  return shards;
}

void Core::request_blocks(const StripeAt& at, StripeBuffer& buffer, std::uint64_t having) {
  buffer.requests.clear();
  for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
    const unsigned role = layout_.role_of(shard, at.stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      const std::size_t i = buffer.at(shard, column);
      if (buffer.needs[i] == 0 || buffer.states[i] != BlockState::untried) continue;
      if ((having >> role & 1U) == 0) {
        buffer.states[i] = BlockState::missing;
        continue;
      }
      const std::span<std::byte> block = buffer.block(shard, column);
      const Source from = source(at, column, role, block.data());
      if (from.is_copied) {
        buffer.states[i] = BlockState::good;
        continue;
      }
      buffer.checks[i] = from.check;
      const std::uint64_t offset = layout_.block_at(at.slot, column);
      if (!buffer.requests.empty()) {
        MemberRequest& last = buffer.requests.back();
        if (last.member == role && last.offset + last.bytes.size() == offset) {
          last.bytes = {last.bytes.data(), last.bytes.size() + block_bytes};
          continue;
        }
      }
      MemberRequest request;
      request.member = role;
      request.offset = offset;
      request.bytes = block;
      buffer.requests.push_back(request);
    }
  }
}

void Core::run_requests(std::span<StripeLoad> loads) {
  if (loads.size() == 1) {
    roster_.run(loads.front().buffer->requests);
    return;
  }
  std::vector<MemberRequest> all;
  for (const StripeLoad& one : loads) {
    all.insert(all.end(), one.buffer->requests.begin(), one.buffer->requests.end());
  }
  roster_.run(all);
  auto from = all.begin();
  for (const StripeLoad& one : loads) {
    for (MemberRequest& request : one.buffer->requests) {
      request = std::move(*from++);
    }
  }
}

void Core::verify(const StripeAt& at, StripeBuffer& buffer) {
  for (const MemberRequest& request : buffer.requests) {
    const unsigned role = request.member;
    const unsigned shard = layout_.shard_of(role, at.stripe);
    const auto first =
        static_cast<std::uint32_t>((request.offset - layout_.block_at(at.slot, 0)) / block_bytes);
    const auto count = static_cast<std::uint32_t>(request.bytes.size() / block_bytes);
    for (std::uint32_t column = first; column < first + count; ++column) {
      const std::size_t i = buffer.at(shard, column);
      const BlockPlace place{role, at.stripe, at.slot, column};
      const bool is_right = !request.error && buffer.checks[i] != unknown_check &&
                            check_.of(place, buffer.block(shard, column)) == buffer.checks[i];
      buffer.states[i] = is_right ? BlockState::good : BlockState::wrong;
      if (!is_right && !request.error) ++roster_.counters(role).blocks_wrong;
    }
  }
}

// Columns that have a block which is wanted and not good need k good ones.
bool Core::ask_for_more(StripeBuffer& buffer, std::uint64_t having_shards) {
  bool is_more = false;
  for (std::uint32_t column = 0; column < layout_.columns; ++column) {
    bool is_complete = true;
    std::size_t good = 0;
    for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
      const std::size_t i = buffer.at(shard, column);
      if (buffer.states[i] == BlockState::good) {
        ++good;
      } else if (buffer.needs[i] != 0) {
        is_complete = false;
      }
    }
    if (is_complete) continue;
    for (unsigned shard = 0; shard < layout_.roles() && good < layout_.data; ++shard) {
      const std::size_t i = buffer.at(shard, column);
      if (buffer.needs[i] != 0 || (having_shards >> shard & 1U) == 0) continue;
      buffer.needs[i] = needs_help;
      ++good;
      is_more = true;
    }
  }
  return is_more;
}

Status Core::decode_run(const StripeAt& at, StripeBuffer& buffer, std::uint32_t first,
                        std::uint32_t count) {
  const std::uint64_t good = good_shards(buffer, first);
  std::uint64_t lost = 0;
  for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
    const std::size_t i = buffer.at(shard, first);
    if (buffer.states[i] != BlockState::good && buffer.needs[i] != 0) {
      lost |= std::uint64_t{1} << shard;
    }
  }
  if (lost == 0) return Done{};
  const auto good_count = static_cast<unsigned>(std::popcount(good));
  if (good_count < layout_.data) {
    blocks_unreadable_ += count;
    return make_error(ErrorCode::corrupt, "stripe ", at.stripe, " has ", good_count,
                      " good blocks in column ", first, ", expected at least ", layout_.data);
  }
  const Indices available(good);
  const Indices wanted(lost);
  CALPE_TRY(const Plan plan, codec_.plan_decode(available.span(), wanted.span()));
  std::array<ConstShard, members_most> inputs = {};
  std::array<Shard, members_most> outputs = {};
  for (std::size_t i = 0; i < plan.reads().size(); ++i) {
    inputs[i] = buffer.blocks(plan.reads()[i], first, count);
  }
  for (std::size_t i = 0; i < plan.writes().size(); ++i) {
    outputs[i] = buffer.blocks(plan.writes()[i], first, count);
  }
  CALPE_CHECK(codec_.run(plan, std::span(inputs).first(plan.reads().size()),
                         std::span(outputs).first(plan.writes().size())));
  for (const ShardIndex shard : plan.writes()) {
    const unsigned role = layout_.role_of(shard, at.stripe);
    for (std::uint32_t column = first; column < first + count; ++column) {
      const std::size_t i = buffer.at(shard, column);
      if (buffer.states[i] == BlockState::wrong) {
        const BlockPlace place{role, at.stripe, at.slot, column};
        const std::uint64_t expected = buffer.checks[i];
        if (expected != unknown_check &&
            check_.of(place, buffer.block(shard, column)) != expected) {
          ++blocks_unreadable_;
          return make_error(ErrorCode::corrupt, "stripe ", at.stripe, " column ", column,
                            ": the block of role ", role,
                            " as decoded does not match its checksum either");
        }
        buffer.needs[i] = needs_rewrite;
      }
      buffer.states[i] = BlockState::good;
    }
  }
  return Done{};
}

Status Core::decode(const StripeAt& at, StripeBuffer& buffer) {
  // What decoding needs to know of a column; runs of equal ones are decoded together.
  const auto is_same = [&](std::uint32_t a, std::uint32_t b) {
    for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
      const std::size_t i = buffer.at(shard, a);
      const std::size_t j = buffer.at(shard, b);
      const bool is_good = buffer.states[i] == BlockState::good;
      if (is_good != (buffer.states[j] == BlockState::good)) return false;
      if (!is_good && (buffer.needs[i] != 0) != (buffer.needs[j] != 0)) return false;
    }
    return true;
  };
  std::uint32_t first = 0;
  Status result = Done{};
  while (first < layout_.columns) {
    std::uint32_t end = first + 1;
    while (end < layout_.columns && is_same(first, end))
      ++end;
    Status run = decode_run(at, buffer, first, end - first);
    if (!run) result = std::move(run);  // others are still made good
    first = end;
  }
  return result;
}

// A checksum that was lost goes through the log, as all changes of the table do. False: it could
// not be put, so the block is still to be repaired.
bool Core::put_repaired(const StripeAt& at, unsigned role, std::uint32_t column,
                        std::uint64_t check) {
  const std::uint64_t bit = std::uint64_t{1} << role;
  while (is_recovered_) {  // before, there is no log to append to
    const bool is_put = overlay_.put([&](Batch& batch) {
      if (!batch.fits(RecordKind::block, bit)) return false;
      batch.put_found({.kind = RecordKind::block,
                       .column = static_cast<std::uint16_t>(column),
                       .slot = at.slot,
                       .stripe = at.stripe,
                       .roles = bit,
                       .checks = std::span(&check, 1)});
      batch.set_needs_flush();
      overlay_.count_rewritten(role);
      return true;
    });
    if (is_put) return true;
    if (!commit()) return false;
  }
  return false;
}

void Core::rewrite(const StripeAt& at, StripeBuffer& buffer) {
  if (options_.is_read_only) return;
  buffer.requests.clear();
  for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
    const unsigned role = layout_.role_of(shard, at.stripe);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      const std::size_t i = buffer.at(shard, column);
      if (buffer.needs[i] != needs_rewrite || !roster_.has(role, at.stripe)) continue;
      MemberRequest request;
      request.call = MemberCall::write;
      request.member = role;
      request.offset = layout_.block_at(at.slot, column);
      request.bytes = buffer.block(shard, column);
      buffer.requests.push_back(request);
    }
  }
  if (buffer.requests.empty() || roster_.is_failed()) return;
  const std::uint64_t failed_roles = roster_.run(buffer.requests);
  for (const MemberRequest& request : buffer.requests) {
    const unsigned role = request.member;
    if ((failed_roles >> role & 1U) != 0) continue;
    const auto column =
        static_cast<std::uint32_t>((request.offset - layout_.block_at(at.slot, 0)) / block_bytes);
    const std::size_t i = buffer.at(layout_.shard_of(role, at.stripe), column);
    if (buffer.checks[i] == unknown_check) {
      const std::uint64_t check = check_.of({role, at.stripe, at.slot, column}, request.bytes);
      if (!put_repaired(at, role, column, check)) continue;
    } else {
      overlay_.count_rewritten(role);
    }
    buffer.needs[i] = is_rewritten;
  }
}

void Core::read_blocks(std::span<StripeLoad> loads) {
  for (StripeLoad& one : loads) {
    one.having = roster_.having(one.at.stripe);
    request_blocks(one.at, *one.buffer, one.having);
  }
  for (bool is_more = true; is_more;) {
    run_requests(loads);
    is_more = false;
    for (const StripeLoad& one : loads) {
      verify(one.at, *one.buffer);
      one.buffer->requests.clear();
      if (!ask_for_more(*one.buffer, layout_.shards_of(one.having, one.at.stripe))) continue;
      request_blocks(one.at, *one.buffer, one.having);
      is_more = true;
    }
  }
}

void Core::load_all(std::span<StripeLoad> loads) {
  read_blocks(loads);
  for (StripeLoad& one : loads) {
    // Who went out meanwhile may have missed a commit, and an old block matches its old checksum.
    while ((one.having & ~roster_.having(one.at.stripe)) != 0) {
      std::fill(one.buffer->states.begin(), one.buffer->states.end(), BlockState::untried);
      read_blocks(std::span(&one, 1));
    }
    one.result = decode(one.at, *one.buffer);
    rewrite(one.at, *one.buffer);
  }
}

Status Core::load(const StripeAt& at, StripeBuffer& buffer) {
  StripeLoad one{.at = at, .buffer = &buffer};
  load_all(std::span(&one, 1));
  return std::move(one.result);
}

}  // namespace calpe::array
