// SPDX-License-Identifier: Apache-2.0
#include "array/core/recovery.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

Recovery::Recovery(SharedState& shared, StripeLoader& loader, const Superblock& newest)
    : layout_(shared.layout),
      check_(shared.check),
      roster_(shared.roster),
      index_(shared.index),
      stock_(shared.stock),
      overlay_(shared.overlay),
      loader_(loader),
      newest_(newest),
      scan_(shared.layout, shared.roster, shared.check,
            BatchName{shared.array, newest.generation, 0}) {}

// Applies the batch to the index and the table, and notes its blocks to be written in place.
void Recovery::take(Log::Locked& log, std::size_t number) {
  const FoundBatch& batch = batches_[number];
  const std::uint64_t columns = layout_.columns;
  for (std::size_t i = 0; i < batch.header->records.size(); ++i) {
    const LogRecord& record = batch.header->records[i];
    if (record.kind == RecordKind::blocks) {
      Entry& entry = entries_[record.stripe * columns + record.column];
      entry.held.resize(layout_.roles());
      entry.slot = record.slot;
      entry.roles |= record.roles;
      for (unsigned role = 0; role < layout_.roles(); ++role) {
        if (record.has(role)) entry.held[role] = {number, i};
      }
    } else if (record.kind != RecordKind::chunk && record.kind != RecordKind::block) {
      entries_.erase(entries_.lower_bound(record.stripe * columns),
                     entries_.lower_bound((record.stripe + 1) * columns));
    }
  }
  log.apply(*batch.header);
}

void Recovery::add_moves(const Entry& entry, std::uint64_t stripe, std::vector<Move>& moves) {
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if ((entry.roles >> role & 1U) == 0 || !roster_.has(role, stripe)) continue;
    const FoundBatch& batch = batches_[entry.held[role].batch];
    const LogRecord& record = batch.header->records[entry.held[role].record];
    if ((batch.holders >> role & 1U) == 0) {
      damaged_.push_back(stripe);  // the block in its slot no longer matches
      continue;
    }
    moves.push_back({role, LogScan::block_at(batch, record, role),
                     layout_.block_at(entry.slot, record.column), &record});
  }
}

// Reads adjacent blocks of a log with one request.
void Recovery::run_moves(std::span<const Move> moves, std::span<std::byte> bytes) {
  std::vector<MemberRequest> reads;
  std::vector<std::size_t> read_of;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const std::span<std::byte> block = bytes.subspan(i * block_bytes, block_bytes);
    const Move& move = moves[i];
    const bool follows =
        i > 0 && moves[i - 1].role == move.role && moves[i - 1].from + block_bytes == move.from;
    if (follows) {
      reads.back().bytes = {reads.back().bytes.data(), reads.back().bytes.size() + block_bytes};
    } else {
      reads.push_back({.member = move.role, .offset = log_at + move.from, .bytes = block});
    }
    read_of.push_back(reads.size() - 1);
  }
  roster_.run(reads);
  std::vector<MemberRequest> writes;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    const std::span<std::byte> block = bytes.subspan(i * block_bytes, block_bytes);
    MemberRequest again = {.member = move.role, .offset = log_at + move.from, .bytes = block};
    // One unreadable sector may have failed the whole run.
    const bool is_read = !reads[read_of[i]].error || roster_.run(std::span(&again, 1)) == 0;
    if (!is_read || !scan_.is_right(*move.record, move.role, block)) {
      damaged_.push_back(move.record->stripe);
      continue;
    }
    writes.push_back(
        {.call = MemberCall::write, .member = move.role, .offset = move.to, .bytes = block});
  }
  roster_.run(writes);
}

void Recovery::write_in_place() {
  constexpr std::size_t moves_most = 256;  // at once
  std::vector<Move> moves;
  for (const auto& [key, entry] : entries_) {
    const std::uint64_t stripe = key / layout_.columns;
    if (index_.slot_of(stripe) == entry.slot) add_moves(entry, stripe, moves);
  }
  std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) {
    return a.role != b.role ? a.role < b.role : a.from < b.from;
  });
  if (moves.empty()) return;
  const AlignedBytes bytes(std::min(moves.size(), moves_most) * block_bytes);
  for (std::span<const Move> rest = moves; !rest.empty();) {
    const auto now = rest.first(std::min(rest.size(), moves_most));
    run_moves(now, bytes.span());
    rest = rest.subspan(now.size());
  }
}

bool Recovery::read_block(const FoundBatch& batch, const LogRecord& record, unsigned role,
                          std::span<std::byte> to) {
  MemberRequest request = {
      .member = role, .offset = log_at + LogScan::block_at(batch, record, role), .bytes = to};
  return roster_.run(std::span(&request, 1)) == 0 && scan_.is_right(record, role, to);
}

// Lets load() see the stripes as the last batch changes them.
void Recovery::overlay_tail(const FoundBatch& tail) {
  const AlignedBytes block(block_bytes);
  for (std::size_t i = 0; i < tail.header->records.size(); ++i) {
    const LogRecord& record = tail.header->records[i];
    if (tail.is_past[i]) continue;
    if (record.kind == RecordKind::whole || record.kind == RecordKind::zeros ||
        record.kind == RecordKind::hole) {
      overlay_.put([&](Batch& batch) {
        batch.put_slot(record.kind, record.stripe, record.slot, record.roles, record.checks);
        return true;
      });
    }
    if (record.kind != RecordKind::blocks) continue;
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if (!record.has(role) || (tail.holders >> role & 1U) == 0) continue;
      if (!read_block(tail, record, role, block.span())) continue;
      overlay_.put([&](Batch& batch) {
        const auto to = batch.put_block(record.stripe, record.slot, record.column, role,
                                        record.words_of(role)[0]);
        std::memcpy(to.data(), block.data(), block_bytes);
        return true;
      });
    }
  }
}

bool Recovery::compute_part(FoundBatch& tail, unsigned role, std::span<std::byte> part) {
  std::memset(part.data(), 0, part.size());
  std::memcpy(part.data(), tail.header_bytes.data(), tail.header_bytes.size());
  const std::uint64_t here = tail.header->roles & roster_.live_roles();
  for (std::size_t i = 0; i < tail.header->records.size(); ++i) {
    const LogRecord& record = tail.header->records[i];
    if (record.kind != RecordKind::blocks || !record.has(role) || tail.is_past[i]) continue;
    const BufferStock::Lease buffer = stock_.take();
    for (unsigned other = 0; other < layout_.roles(); ++other) {
      // The blocks in the slots of these roles are older than the record.
      const bool lacks =
          record.has(other) && (here >> other & 1U) != 0 && (tail.holders >> other & 1U) == 0;
      if (!lacks) continue;
      const std::size_t at = buffer->at(layout_.shard_of(other, record.stripe), record.column);
      buffer->needs[at] = 1;
      buffer->states[at] = BlockState::missing;
    }
    if (!loader_.load({record.stripe, record.slot}, *buffer)) return false;
    const auto block = buffer->block(layout_.shard_of(role, record.stripe), record.column);
    const std::span<const std::uint64_t> words = record.words_of(role);
    if (check_.of({role, record.stripe, record.slot, record.column}, block) != words[0]) {
      return false;
    }
    std::memcpy(part.data() + tail.header->bytes + words[1] * block_bytes, block.data(),
                block_bytes);
  }
  return true;
}

// Writes the missing parts of the last batch before the batch is written in place, so that it
// survives the loss of any m members. Returns false if they cannot be computed; then the batch was
// never acknowledged.
bool Recovery::complete_tail() {
  FoundBatch& tail = batches_.back();
  const std::uint64_t lacking = tail.header->roles & roster_.live_roles() & ~tail.holders;
  if (lacking == 0) return true;
  overlay_tail(tail);
  std::vector<MemberRequest> requests;
  std::vector<AlignedBytes> parts;
  bool is_computed = true;
  for (unsigned role = 0; is_computed && role < layout_.roles(); ++role) {
    if ((lacking >> role & 1U) == 0) continue;
    parts.emplace_back(tail.header->part_bytes(role));
    is_computed = compute_part(tail, role, parts.back().span());
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = role;
    request.offset = log_at + tail.at[role];
    request.bytes = parts.back().span();
    request.is_durable = true;
    request.is_past_cache = true;
    requests.push_back(request);
  }
  overlay_.drop_pending();
  if (!is_computed) return false;
  const std::uint64_t failed_roles = roster_.run(requests);
  tail.holders |= lacking & ~failed_roles;
  return true;
}

void Recovery::heal() {
  std::sort(damaged_.begin(), damaged_.end());
  damaged_.erase(std::unique(damaged_.begin(), damaged_.end()), damaged_.end());
  for (const std::uint64_t stripe : damaged_) {
    const StripeAt at{stripe, index_.slot_of(stripe)};
    if (at.slot == no_slot) continue;
    const BufferStock::Lease buffer = stock_.take();
    std::fill(buffer->needs.begin(), buffer->needs.end(), std::uint8_t{1});
    static_cast<void>(loader_.load(at, *buffer));  // on failure, reads of the stripe report it
  }
}

// Without the lost batch, acknowledged writes would be missing.
Status Recovery::check_gap() {
  const auto later = scan_.find_later(newest_.is_clean);
  if (!later) return Done{};
  std::string missing;
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (roster_.is_live(role)) continue;
    missing += text(missing.empty() ? "" : "; ", "member ", role, ": ", roster_.why(role));
  }
  return make_error(ErrorCode::unrecoverable, "the log has a gap: no member has batch ",
                    scan_.first_not_found(), " of generation ", newest_.generation, ", but member ",
                    later->role, " has batch ", later->sequence, " of generation ",
                    later->generation, "; acknowledged writes are lost; no data was changed; ",
                    missing.empty() ? "restore the data from a backup"
                                    : text("bring back the missing members (", missing, ")"));
}

Status Recovery::run(Log::Locked& log) {
  batches_ = scan_.run();
  CALPE_CHECK(check_gap());
  const std::size_t complete = batches_.empty() ? 0 : batches_.size() - 1;
  for (std::size_t i = 0; i < complete; ++i) {
    take(log, i);
  }
  if (!batches_.empty()) {
    const FoundBatch& tail = batches_.back();
    const bool is_complete = (tail.header->roles & roster_.live_roles() & ~tail.holders) == 0;
    if (!is_complete) write_in_place();  // the last batch is computed from these
    if (complete_tail()) {
      take(log, complete);
    } else {
      batches_.pop_back();
    }
  }
  write_in_place();
  return roster_.check();
}

}  // namespace calpe::array
