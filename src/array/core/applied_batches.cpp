// SPDX-License-Identifier: Apache-2.0
#include "array/core/applied_batches.hpp"

#include <algorithm>

namespace calpe::array {

AppliedBatches::AppliedBatches(SharedState& shared)
    : layout_(shared.layout),
      check_(shared.check),
      roster_(shared.roster),
      index_(shared.index),
      table_(shared.table),
      free_slots_(shared.stripes.free_slots()),
      is_touched_(shared.layout.stripes) {}

void AppliedBatches::touch(std::uint64_t stripe) {
  if (is_touched_[stripe] == 0) touched_.push_back(stripe);
  is_touched_[stripe] = 1;
  if (roster_.live_roles() != (~std::uint64_t{0} >> (64 - layout_.roles()))) {
    index_.set_missed(stripe);
  }
}

void AppliedBatches::set_zeros(const LogRecord& record) {
  std::vector<std::uint64_t> checks(layout_.columns);
  for (unsigned role = 0; role < layout_.roles(); ++role) {
    if (!roster_.is_live(role)) continue;
    for (std::uint32_t column = 0; column < layout_.columns; ++column) {
      checks[column] = check_.of_zeros({role, record.stripe, record.slot, column});
    }
    table_.set(role, layout_.table_index(record.slot, 0), checks);
  }
}

// Frees the slot that the stripe leaves; earlier references to it are void.
void AppliedBatches::set_slot(const LogRecord& record) {
  const std::uint32_t before = index_.slot_of(record.stripe);
  index_.set_slot(record.stripe, record.slot);
  if (record.kind == RecordKind::zeros) set_zeros(record);
  if (before != no_slot && before != record.slot) free_slots_.give(before);
}

void AppliedBatches::apply(const BatchHeader& header) {
  for (const LogRecord& record : header.records) {
    touch(record.stripe);
    const bool is_slot = record.kind == RecordKind::whole || record.kind == RecordKind::zeros ||
                         record.kind == RecordKind::hole;
    if (is_slot) set_slot(record);
    if (record.kind == RecordKind::whole) roster_.set_has(record.roles, record.stripe);
    if (record.checks.empty()) continue;
    for (unsigned role = 0; role < layout_.roles(); ++role) {
      if (!record.has(role) || !roster_.is_live(role)) continue;
      std::span<const std::uint64_t> checks = record.words_of(role);
      if (record.kind == RecordKind::blocks) checks = checks.first(1);
      table_.set(role, layout_.table_index(record.slot, record.column), checks);
    }
  }
}

void AppliedBatches::set_missed() {
  for (const std::uint64_t stripe : touched_) {
    index_.set_missed(stripe);
  }
}

void AppliedBatches::clear() {
  for (const std::uint64_t stripe : touched_) {
    is_touched_[stripe] = 0;
  }
  touched_.clear();
}

}  // namespace calpe::array
