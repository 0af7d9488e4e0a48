// SPDX-License-Identifier: Apache-2.0
#include "array/state/log_scan.hpp"

#include <algorithm>

#include "array/state/buffers.hpp"

namespace calpe::array {

namespace {

bool is_slot_kind(RecordKind kind) {
  return kind == RecordKind::whole || kind == RecordKind::zeros || kind == RecordKind::hole;
}

std::vector<bool> past_records(const BatchHeader& header) {
  std::vector<bool> is_past(header.records.size());
  for (std::size_t i = 0; i < header.records.size(); ++i) {
    if (!is_slot_kind(header.records[i].kind)) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (header.records[j].stripe == header.records[i].stripe) is_past[j] = true;
    }
  }
  return is_past;
}

}  // namespace

LogScan::LogScan(const MemberLayout& layout, Roster& roster, const BlockCheck& check,
                 BatchName name)
    : layout_(layout),
      roster_(roster),
      check_(check),
      name_(name),
      reader_(layout, roster),
      next_(layout.roles()) {}

void LogScan::look(unsigned role) {
  Next& next = next_[role];
  if (next.is_read) return;
  next.is_read = true;
  next.header.reset();
  std::span<const std::byte> bytes = reader_.read(role, at_[role], block_bytes);
  if (bytes.empty()) return;
  const auto claimed = claimed_bytes(bytes, name_, layout_);
  if (!claimed) return;
  if (*claimed > block_bytes) bytes = reader_.read(role, at_[role], *claimed);
  if (bytes.empty()) return;
  auto header = parse_header(bytes, name_, layout_);
  if (!header || (header->roles >> role & 1U) == 0) return;
  next.bytes.assign(bytes.begin(), bytes.end());
  next.header = std::make_unique<BatchHeader>(*std::move(header));
}

bool LogScan::holds(const FoundBatch& batch, unsigned role) {
  for (std::size_t i = 0; i < batch.header->records.size(); ++i) {
    const LogRecord& record = batch.header->records[i];
    if (record.kind != RecordKind::blocks || !record.has(role) || batch.is_past[i]) continue;
    const auto block = reader_.read(role, block_at(batch, record, role), block_bytes);
    if (block.empty() || !is_right(record, role, block)) return false;
  }
  return true;
}

// A part never extends past the end of the log.
bool LogScan::fits(const BatchHeader& header) const {
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if ((header.roles >> role & 1U) == 0 || !roster_.is_live(role)) continue;
    if (header.part_bytes(role) > layout_.log_bytes - at_[role]) return false;
  }
  return true;
}

std::vector<FoundBatch> LogScan::run() {
  std::vector<FoundBatch> all;
  for (name_.sequence = 1;; ++name_.sequence) {
    FoundBatch batch;
    std::uint64_t with_header = 0;
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if (!roster_.is_live(role)) continue;
      look(role);
      Next& next = next_[role];
      if (next.header == nullptr || next.header->name.sequence != name_.sequence) continue;
      if (batch.header == nullptr) {
        batch.header = std::move(next.header);  // not used again
        batch.header_bytes = next.bytes;
      } else if (next.bytes != batch.header_bytes) {
        continue;  // at most one is ours; use the first
      }
      with_header |= std::uint64_t{1} << role;
    }
    if (batch.header == nullptr || !fits(*batch.header)) return all;
    batch.is_past = past_records(*batch.header);
    batch.at = at_;
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if ((batch.header->roles >> role & 1U) == 0 || !roster_.is_live(role)) continue;
      if ((with_header >> role & 1U) != 0 && holds(batch, role)) {
        batch.holders |= std::uint64_t{1} << role;
      }
      at_[role] += batch.header->part_bytes(role);
      next_[role].is_read = false;
    }
    all.push_back(std::move(batch));
  }
}

std::optional<LaterBatch> LogScan::later_at(unsigned role, std::uint64_t at,
                                            std::span<const std::byte> block) {
  const auto generation = claimed_generation(block);
  if (!generation || *generation < name_.generation) return std::nullopt;
  const BatchName name{name_.array, *generation, 0};
  const auto claimed = claimed_bytes(block, name, layout_);
  if (!claimed) return std::nullopt;
  if (*claimed > block_bytes) block = reader_.read(role, at, *claimed);
  if (block.empty()) return std::nullopt;
  const auto header = parse_header(block.first(*claimed), name, layout_);
  if (!header || (header->roles >> role & 1U) == 0) return std::nullopt;
  const bool is_later = *generation > name_.generation || header->name.sequence > name_.sequence;
  if (!is_later) return std::nullopt;
  return LaterBatch{role, *generation, header->name.sequence};
}

std::optional<LaterBatch> LogScan::find_later(bool is_closed) {
  constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 18U;  // per member and request
  const std::uint64_t end = is_closed ? block_bytes : layout_.log_bytes;
  const AlignedBytes bytes(layout_.roles() * std::min(piece_bytes, end));
  for (std::uint64_t from = 0; from < end; from += piece_bytes) {
    const std::uint64_t count = std::min(piece_bytes, end - from);
    std::vector<MemberRequest> requests;
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if (!roster_.is_live(role) || at_[role] >= from + count) continue;
      requests.push_back({.member = role,
                          .offset = log_at + from,
                          .bytes = bytes.span().subspan(requests.size() * count, count)});
    }
    roster_.run(requests);
    for (const MemberRequest& request : requests) {
      const unsigned role = request.member;
      for (std::uint64_t at = std::max(from, at_[role]); at < from + count; at += block_bytes) {
        // One unreadable sector makes the whole request fail.
        std::span<const std::byte> block = request.bytes.subspan(at - from, block_bytes);
        if (request.error) block = reader_.read(role, at, block_bytes);
        if (block.empty()) continue;
        if (const auto later = later_at(role, at, block)) return later;
      }
    }
  }
  return std::nullopt;
}

}  // namespace calpe::array
