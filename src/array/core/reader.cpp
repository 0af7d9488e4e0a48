// SPDX-License-Identifier: Apache-2.0
#include "array/core/reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "base/try.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::array {

namespace {

constexpr std::uint64_t stripes_of_read = 32;  // locked and read together

}  // namespace

struct Reader::Piece {
  StripeAt at;
  unsigned role = 0;
  std::uint32_t column = 0;
  std::byte* to = nullptr;
};

struct Reader::Call {
  struct Stripe {
    StripeAt at;
    StripePart part;
    std::byte* to = nullptr;
    bool is_slow = false;
  };
  struct Expected {
    std::uint64_t plain = 0;
    std::byte* block = nullptr;
    std::size_t request = 0;
    std::size_t stripe = 0;
  };
  std::vector<std::shared_lock<std::shared_mutex>> locks;
  std::vector<Stripe> stripes;
  std::vector<MemberRequest> requests;
  std::vector<Expected> blocks;
};

Reader::Reader(SharedState& shared, StripeLoader& loader)
    : settings_(shared.settings),
      layout_(shared.layout),
      check_(shared.check),
      roster_(shared.roster),
      table_(shared.table),
      stock_(shared.stock),
      stripes_(shared.stripes),
      overlay_(shared.overlay),
      loader_(loader),
      source_(shared) {}

// Blocks of one chunk.
void Reader::add_piece(Call& call, const Piece& piece, std::uint32_t count) {
  // Checked before the table, as a change may move from the overlay to the table in between.
  const bool has_overlay = overlay_.has_any();
  std::array<std::uint64_t, 256> checks = {};
  table_.get(piece.role, layout_.table_index(piece.at.slot, piece.column),
             std::span(checks).first(count));
  bool is_open = false;  // the last request can be extended
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t column = piece.column + i;
    std::byte* to = piece.to + std::size_t{i} * block_bytes;
    std::uint64_t check = checks[i];
    if (has_overlay) {
      const Overlay::Block from = source_.find(piece.at, column, piece.role, to);
      if (from.is_copied) {
        is_open = false;
        continue;
      }
      check = from.check;
    }
    const BlockPlace place{piece.role, piece.at.stripe, piece.at.slot, column};
    const std::uint64_t plain = check_.plain(place, check);
    if (plain == check_.plain_zeros()) {
      std::memset(to, 0, block_bytes);
      is_open = false;
      continue;
    }
    if (is_open) {
      MemberRequest& last = call.requests.back();
      last.bytes = {last.bytes.data(), last.bytes.size() + block_bytes};
    } else {
      MemberRequest request;
      request.member = piece.role;
      request.offset = layout_.block_at(piece.at.slot, column);
      request.bytes = {to, block_bytes};
      call.requests.push_back(request);
      is_open = true;
    }
    call.blocks.push_back({plain, to, call.requests.size() - 1, call.stripes.size() - 1});
  }
}

void Reader::add_pieces(Call& call, const StripeAt& at, const StripePart& part, std::byte* to) {
  call.stripes.push_back({at, part, to, false});
  bool& is_slow = call.stripes.back().is_slow;
  if (part.begin % block_bytes != 0 || part.bytes % block_bytes != 0) {
    is_slow = true;
    return;
  }
  std::uint64_t begin = part.begin;
  const std::uint64_t end = part.begin + part.bytes;
  while (begin < end) {
    const auto shard = static_cast<unsigned>(begin / layout_.chunk_bytes);
    const std::uint64_t in_chunk = begin % layout_.chunk_bytes;
    const std::uint64_t bytes = std::min(end - begin, layout_.chunk_bytes - in_chunk);
    const unsigned role = layout_.role_of(shard, part.stripe);
    if (!roster_.has(role, part.stripe)) {
      is_slow = true;
      return;
    }
    add_piece(call, {at, role, static_cast<std::uint32_t>(in_chunk / block_bytes), to},
              static_cast<std::uint32_t>(bytes / block_bytes));
    // A member that just went out may have missed a commit; its blocks may not be the newest.
    if (!roster_.has(role, part.stripe)) {
      is_slow = true;
      return;
    }
    begin += bytes;
    to += bytes;
  }
}

void Reader::run_pieces(Call& call) {
  roster_.run(call.requests);
  for (const Call::Expected& block : call.blocks) {
    if (call.requests[block.request].error ||
        store::plain_checksum({block.block, block_bytes}) != block.plain) {
      call.stripes[block.stripe].is_slow = true;
    }
  }
}

Status Reader::read_slowly(const StripeAt& at, const StripePart& part, std::byte* to) {
  const BufferStock::Lease buffer = stock_.take();
  const std::uint64_t end = part.begin + part.bytes;
  for (std::uint64_t block = part.begin / block_bytes; block * block_bytes < end; ++block) {
    buffer->needs[block] = 1;  // shard by shard, as data is stored in a stripe
  }
  CALPE_CHECK(loader_.load(at, *buffer));
  std::memcpy(to, buffer->bytes.data() + part.begin, part.bytes);
  return Done{};
}

Status Reader::read_group(std::uint64_t offset, std::span<std::byte> bytes) {
  Call call;
  while (!bytes.empty()) {
    const StripePart part = first_part(layout_, offset, bytes.size());
    call.locks.emplace_back(stripes_.lock_of(part.stripe));
    const StripeAt at = stripes_.at(part.stripe);
    if (at.slot == no_slot) {
      std::memset(bytes.data(), 0, part.bytes);
    } else {
      add_pieces(call, at, part, bytes.data());
    }
    offset += part.bytes;
    bytes = bytes.subspan(part.bytes);
  }
  run_pieces(call);
  for (const Call::Stripe& stripe : call.stripes) {
    if (stripe.is_slow) CALPE_CHECK(read_slowly(stripe.at, stripe.part, stripe.to));
  }
  return Done{};
}

Status Reader::read(std::uint64_t offset, std::span<std::byte> bytes) {
  CALPE_CHECK(check_range(settings_, offset, bytes.size()));
  if (roster_.is_stopped()) return roster_.check();
  while (!bytes.empty()) {
    const std::uint64_t group = stripes_of_read * layout_.stripe_bytes();
    const auto now = static_cast<std::size_t>(
        std::min<std::uint64_t>(bytes.size(), group - offset % layout_.stripe_bytes()));
    CALPE_CHECK(read_group(offset, bytes.first(now)));
    offset += now;
    bytes = bytes.subspan(now);
  }
  return Done{};
}

Result<std::vector<Extent>> Reader::extents(std::uint64_t offset, std::uint64_t length) {
  CALPE_CHECK(check_range(settings_, offset, length));
  std::vector<Extent> all;
  while (length != 0) {
    const StripePart part = first_part(layout_, offset, length);
    bool is_data = false;
    {
      const std::shared_lock lock(stripes_.lock_of(part.stripe));
      is_data = stripes_.at(part.stripe).slot != no_slot;
    }
    if (!all.empty() && all.back().is_data == is_data) {
      all.back().bytes += part.bytes;
    } else {
      all.push_back({offset, part.bytes, is_data});
    }
    offset += part.bytes;
    length -= part.bytes;
  }
  return all;
}

}  // namespace calpe::array
