// SPDX-License-Identifier: Apache-2.0
#include "array/state/batch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.hpp"

namespace calpe::array {

Batch::Batch(const MemberLayout& layout)
    : layout_(layout), used_(layout.roles()), header_(layout.header_most) {
  parts_.reserve(layout.roles());
  for (unsigned role = 0; role < layout.roles(); ++role) {
    parts_.emplace_back(layout.header_most + layout.blocks_most * block_bytes);
  }
}

void Batch::clear() {
  changes_.clear();
  checks_.clear();
  places_.clear();
  column_of_.clear();
  slot_of_.clear();
  std::fill(used_.begin(), used_.end(), 0U);
  record_bytes_ = 0;
  needs_flush_ = false;
  has_found_checks_ = false;
}

bool Batch::fits_columns(std::uint64_t count) const noexcept {
  const std::uint64_t most = *std::max_element(used_.begin(), used_.end());
  return most + count <= layout_.blocks_most &&
         log_header_fixed + record_bytes_ +
                 (count + 1) * (log_record_fixed + 16 * std::uint64_t{layout_.roles()}) <=
             layout_.header_most;
}

bool Batch::fits(RecordKind kind, std::uint64_t roles) const noexcept {
  return log_header_fixed + record_bytes_ + record_bytes(kind, roles, layout_.columns) <=
         layout_.header_most;
}

std::span<std::byte> Batch::block_bytes_of(unsigned role, std::uint32_t place) const noexcept {
  return parts_[role].span().subspan(layout_.header_most + std::size_t{place} * block_bytes,
                                     block_bytes);
}

std::span<std::byte> Batch::put_block(std::uint64_t stripe, std::uint32_t slot,
                                      std::uint32_t column, unsigned role, std::uint64_t check) {
  auto found = column_of_.find(key(stripe, column));
  if (found == column_of_.end()) {
    const std::size_t first = checks_.size();
    checks_.resize(first + layout_.roles());
    places_.resize(checks_.size());
    changes_.push_back({.kind = RecordKind::blocks,
                        .column = column,
                        .slot = slot,
                        .stripe = stripe,
                        .roles = 0,
                        .first = first});
    found = column_of_.emplace(key(stripe, column), changes_.size() - 1).first;
    record_bytes_ += log_record_fixed;
  }
  Change& change = changes_[found->second];
  CALPE_ASSERT(change.slot == slot);
  const std::uint64_t bit = std::uint64_t{1} << role;
  if ((change.roles & bit) == 0) {
    change.roles |= bit;
    record_bytes_ += 16;
    CALPE_ASSERT(used_[role] < layout_.blocks_most);
    places_[change.first + role] = used_[role]++;
  }
  checks_[change.first + role] = check;
  if (has_found_checks_) replace_found(found->second, role, check);
  return block_bytes_of(role, places_[change.first + role]);
}

// The block joins a record that is older than a checksum from a repair or a rebuild. Updates that
// checksum, which would otherwise override the block when the records are applied in order.
void Batch::replace_found(std::size_t before, unsigned role, std::uint64_t check) noexcept {
  const Change& joined = changes_[before];
  for (std::size_t i = before + 1; i < changes_.size(); ++i) {
    const Change& found = changes_[i];
    if (found.stripe != joined.stripe || (found.roles >> role & 1U) == 0) continue;
    const std::size_t number = number_of_role(found.roles, role);
    if (found.kind == RecordKind::chunk) {
      checks_[found.first + number * layout_.columns + joined.column] = check;
    } else if (found.kind == RecordKind::block && found.column == joined.column) {
      checks_[found.first + number] = check;
    }
  }
}

void Batch::put_slot(RecordKind kind, std::uint64_t stripe, std::uint32_t slot, std::uint64_t roles,
                     std::span<const std::uint64_t> checks) {
  for (std::uint32_t column = 0; column < layout_.columns; ++column) {
    column_of_.erase(key(stripe, column));
  }
  put_checks({.kind = kind,
              .column = 0,
              .slot = slot,
              .stripe = stripe,
              .roles = roles,
              .checks = checks});
  slot_of_[stripe] = changes_.size() - 1;
}

void Batch::put_found(const LogRecord& record) {
  has_found_checks_ = true;
  put_checks(record);
}

void Batch::put_checks(const LogRecord& record) {
  const std::size_t first = checks_.size();
  checks_.insert(checks_.end(), record.checks.begin(), record.checks.end());
  places_.resize(checks_.size());
  changes_.push_back({.kind = record.kind,
                      .column = record.column,
                      .slot = record.slot,
                      .stripe = record.stripe,
                      .roles = record.roles,
                      .first = first});
  record_bytes_ += record_bytes(record.kind, record.roles, layout_.columns);
}

Batch::Look Batch::look(std::uint64_t stripe, std::uint32_t column, unsigned role) const {
  if (changes_.empty()) return {};
  if (const auto found = column_of_.find(key(stripe, column)); found != column_of_.end()) {
    const Change& change = changes_[found->second];
    if ((change.roles >> role & 1U) != 0) {
      return {.found = Found::bytes,
              .bytes = block_bytes_of(role, places_[change.first + role]),
              .check = checks_[change.first + role]};
    }
  }
  const auto found = slot_of_.find(stripe);
  if (found == slot_of_.end()) return {};
  const Change& change = changes_[found->second];
  if (change.kind != RecordKind::whole) return {.found = Found::zeros};
  if ((change.roles >> role & 1U) == 0) return {.found = Found::check, .check = 0};
  const std::size_t before = number_of_role(change.roles, role);
  return {.found = Found::check,
          .check = checks_[change.first + before * layout_.columns + column]};
}

BatchHeader Batch::header(const BatchName& name, std::uint64_t live) {
  BatchHeader header;
  header.name = name;
  packed_.clear();
  packed_.reserve(2 * checks_.size());  // never reallocated, as spans point into it
  bool is_for_all = false;
  for (const Change& change : changes_) {
    LogRecord record{.kind = change.kind,
                     .column = static_cast<std::uint16_t>(change.column),
                     .slot = change.slot,
                     .stripe = change.stripe,
                     .roles = change.roles};
    const std::size_t first = packed_.size();
    if (change.kind == RecordKind::blocks) {
      header.roles |= change.roles;
      for (unsigned role = 0; role < layout_.roles(); ++role) {
        if ((change.roles >> role & 1U) == 0) continue;
        packed_.push_back(checks_[change.first + role]);
        packed_.push_back(places_[change.first + role]);
      }
    } else {
      is_for_all = true;
      const auto count =
          static_cast<std::size_t>(checks_per_role(change.kind, layout_.columns) *
                                   static_cast<std::uint64_t>(std::popcount(change.roles)));
      packed_.insert(packed_.end(), checks_.begin() + static_cast<std::ptrdiff_t>(change.first),
                     checks_.begin() + static_cast<std::ptrdiff_t>(change.first + count));
    }
    record.checks = std::span(packed_.data() + first, packed_.size() - first);
    header.records.push_back(record);
  }
  // Every live role stores records without blocks, so that enough copies survive.
  if (is_for_all) header.roles = live;
  header.roles &= live;
  header.bytes = write_header(header, header_);
  return header;
}

std::span<std::byte> Batch::part(unsigned role, const BatchHeader& header) {
  const AlignedBytes& bytes = parts_[role];
  const std::size_t begin = layout_.header_most - header.bytes;
  std::memcpy(bytes.data() + begin, header_.data(), header.bytes);
  return bytes.span().subspan(begin, header.bytes + std::size_t{used_[role]} * block_bytes);
}

}  // namespace calpe::array
