// SPDX-License-Identifier: Apache-2.0
#include "array/core/stripe_loader.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace calpe::array {

StripeLoader::StripeLoader(SharedState& shared, Log& log)
    : layout_(shared.layout),
      check_(shared.check),
      roster_(shared.roster),
      source_(shared),
      decoder_(shared),
      repair_(shared, log) {}

void StripeLoader::request_blocks(const StripeAt& at, StripeBuffer& buffer, std::uint64_t having) {
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
      const Overlay::Block from = source_.find(at, column, role, block.data());
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

void StripeLoader::run_requests(std::span<StripeLoad> loads) {
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

void StripeLoader::verify(const StripeAt& at, StripeBuffer& buffer) {
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

// A column with a wanted block that is not good needs k good blocks.
bool StripeLoader::ask_for_more(StripeBuffer& buffer, std::uint64_t having_shards) {
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

void StripeLoader::read_blocks(std::span<StripeLoad> loads) {
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

// Fewer blocks than StripeLoader::load() reads would do, but then disks would have to skip chunks.
void StripeLoader::begin(StripeLoad& load, bool decodes) {
  StripeBuffer& buffer = *load.buffer;
  load.having = roster_.having(load.at.stripe);
  unsigned found = 0;
  for (unsigned role = 0; decodes && role < layout_.roles() && found < layout_.data; ++role) {
    if ((load.having >> role & 1U) == 0) continue;
    ++found;
    const std::size_t i = buffer.at(layout_.shard_of(role, load.at.stripe), 0);
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      if (buffer.needs[i + column] == 0) buffer.needs[i + column] = needs_help;
    }
  }
  request_blocks(load.at, buffer, load.having);
}

bool StripeLoader::is_right(const StripeAt& at, const MemberRequest& request,
                            StripeBuffer& buffer) const {
  if (request.error) return false;
  const unsigned shard = layout_.shard_of(request.member, at.stripe);
  const auto first =
      static_cast<std::uint32_t>((request.offset - layout_.block_at(at.slot, 0)) / block_bytes);
  const auto count = static_cast<std::uint32_t>(request.bytes.size() / block_bytes);
  for (std::uint32_t column = first; column < first + count; ++column) {
    const std::size_t i = buffer.at(shard, column);
    const BlockPlace place{request.member, at.stripe, at.slot, column};
    if (buffer.checks[i] == unknown_check) return false;
    if (check_.of(place, buffer.block(shard, column)) != buffer.checks[i]) return false;
    buffer.states[i] = BlockState::good;
  }
  return true;
}

bool StripeLoader::end(StripeLoad& load) {
  StripeBuffer& buffer = *load.buffer;
  bool is_good = true;
  for (const MemberRequest& request : buffer.requests)
    is_good = is_good && is_right(load.at, request, buffer);
  buffer.requests.clear();
  for (std::uint32_t column = 0; is_good && column < layout_.columns; ++column) {
    unsigned good = 0;
    bool is_complete = true;
    for (unsigned shard = 0; shard < layout_.roles(); ++shard) {
      const std::size_t i = buffer.at(shard, column);
      const bool is_read = buffer.states[i] == BlockState::good;
      good += is_read ? 1 : 0;
      is_complete = is_complete && (is_read || buffer.needs[i] == 0);
    }
    is_good = is_complete || good >= layout_.data;
  }
  if (!is_good) return false;
  load.result = decoder_.decode(load.at, buffer);
  return load.result.has_value();
}

void StripeLoader::load_all(std::span<StripeLoad> loads) {
  read_blocks(loads);
  for (StripeLoad& one : loads) {
    // A member that just went out may have missed a commit; its old block matches an old checksum.
    while ((one.having & ~roster_.having(one.at.stripe)) != 0) {
      std::fill(one.buffer->states.begin(), one.buffer->states.end(), BlockState::untried);
      read_blocks(std::span(&one, 1));
    }
    one.result = decoder_.decode(one.at, *one.buffer);
    repair_.rewrite(one.at, *one.buffer);
  }
}

Status StripeLoader::load(const StripeAt& at, StripeBuffer& buffer) {
  StripeLoad one{.at = at, .buffer = &buffer};
  load_all(std::span(&one, 1));
  return std::move(one.result);
}

}  // namespace calpe::array
