// SPDX-License-Identifier: Apache-2.0
// Takes members out, replaces them and brings them back. Changes are durable on return.
//
// Locks: none. Takes Rebuild::pause() and the write gate if a rebuild or a copy begins, then
// Log::Locked.
#pragma once
#include <optional>
#include <utility>

#include <calpe/code_spec.hpp>
#include <calpe/result.hpp>

#include "array/core/log.hpp"
#include "array/core/rebuild.hpp"
#include "array/core/shared_state.hpp"
#include "array/state/write_gate.hpp"

namespace calpe::array {

class MemberAdmin {
 public:
  MemberAdmin(SharedState& shared, Log& log, Rebuild& rebuild, WriteGate& gate);

  // Like the functions of Array.
  Status fail(unsigned role);
  Status lose(unsigned role, const std::string& why);
  Status add(unsigned place);
  Status remove_spare(unsigned place);
  Status replace(unsigned role, unsigned place);
  Result<bool> take_spare();
  Status readd(unsigned role);
  Return returning(const Superblock& found, unsigned role);
  // Like grow_parity(). The array must not be used afterwards.
  Status grow(unsigned place, const CodeSpec& spec);

 private:
  Status check_role(unsigned role) const;
  Status leave(unsigned role, const std::string& why, Exit exit);
  Status check_new_place(unsigned place);
  const SparePlace* find_spare(unsigned place) const;
  Status add_spare(Log::Locked& log, unsigned place);
  std::optional<std::pair<unsigned, SparePlace>> spare_to_take() const;
  Status start_copy(Log::Locked& log, unsigned role, unsigned place);
  Status start_rebuild(Log::Locked& log, unsigned role, const SparePlace& place, bool by_missed);
  void miss_unsound_pages(unsigned role);

  const Shape& shape_;
  const MemberLayout& layout_;
  const Uuid& array_;
  Roster& roster_;
  Index& index_;
  ChecksumTable& table_;
  Log& log_;
  Rebuild& rebuild_;
  WriteGate& gate_;
};

}  // namespace calpe::array
