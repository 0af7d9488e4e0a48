// SPDX-License-Identifier: Apache-2.0
#include "array/state/overlay.hpp"

#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace calpe::array {

Overlay::Overlay(const MemberLayout& layout)
    : roles_(layout.roles()),
      pending_(std::make_unique<Batch>(layout)),
      committing_(std::make_unique<Batch>(layout)),
      placing_(std::make_unique<Batch>(layout)) {}

std::optional<Overlay::Block> Overlay::find(std::uint64_t stripe, std::uint32_t column,
                                            unsigned role, std::byte* to) {
  if (!has_any()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  for (const Batch* batch : {pending_.get(), committing_.get(), placing_.get()}) {
    const Batch::Look look = batch->look(stripe, column, role);
    if (look.found == Batch::Found::nothing) continue;
    if (look.found == Batch::Found::check) return Block{.is_copied = false, .check = look.check};
    if (look.found == Batch::Found::bytes) {
      std::memcpy(to, look.bytes.data(), block_bytes);
    } else {
      std::memset(to, 0, block_bytes);
    }
    return Block{.is_copied = true, .check = look.check};
  }
  return std::nullopt;
}

std::optional<CountByRole> Overlay::begin_commit() {
  CountByRole rewritten = {};
  {
    const std::lock_guard lock(mutex_);
    // The older batch must not become the newer one.
    if (is_torn_ || !committing_->is_empty()) return std::nullopt;
    for (unsigned role = 0; role < roles_; ++role) {
      rewritten[role] = rewritten_[role].exchange(0);
    }
    if (!pending_->is_empty()) std::swap(pending_, committing_);
  }
  committing_->wait_until_filled();
  return rewritten;
}

void Overlay::begin_placing() {
  const std::lock_guard lock(mutex_);
  CALPE_ASSERT(placing_->is_empty());
  std::swap(committing_, placing_);
}

void Overlay::end_placing() {
  const std::lock_guard lock(mutex_);
  placing_->clear();
  if (pending_->is_empty() && committing_->is_empty())
    has_any_.store(false, std::memory_order_release);
}

void Overlay::drop_pending() {
  const std::lock_guard lock(mutex_);
  CALPE_ASSERT(committing_->is_empty() && placing_->is_empty());
  pending_->clear();
  has_any_.store(false, std::memory_order_release);
}

}  // namespace calpe::array
