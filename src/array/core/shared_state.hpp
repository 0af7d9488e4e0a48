// SPDX-License-Identifier: Apache-2.0
// State that the parts of an open array share. The constructor of each part takes only what it
// uses.
//
// Order of all locks of an array. A thread that holds one may take those below it:
//   0  the gate of Array      every call passes it, grow() closes it
//   1  Rebuild::pause()      one change of members at a time; or the mutex of Scrub, never both
//   2  Writer::gate()        writers pass, a member that returns waits for them
//   3  Stripes::lock_of()    slot and blocks of a stripe
//   4  Log::Locked           log, superblock, index
//   5  pages of the ChecksumTable, which may read them from members
//   6  Overlay, FreeSlots, Roster, BufferStock: their holders take no other lock
// The holder of 4 never takes 3, so a thread that holds a stripe may commit. A sweep (StripeLocks)
// holds stripes in any order: it only tries their locks.
#pragma once
#include <calpe/codec.hpp>

#include "array/format/block_check.hpp"
#include "array/format/index.hpp"
#include "array/format/members.hpp"
#include "array/format/superblock.hpp"
#include "array/state/buffers.hpp"
#include "array/state/checksum_table.hpp"
#include "array/state/lost_blocks.hpp"
#include "array/state/overlay.hpp"
#include "array/state/roster.hpp"
#include "array/state/stripes.hpp"

namespace calpe::array {

struct SharedState {
  SharedState(Members& members, const Superblock& newest, Codec array_codec,
              const OpenOptions& open_options);

  // Never changed while the array is open.
  const Settings settings;
  const Shape shape;
  const MemberLayout layout;
  const Uuid array;
  const BlockCheck check;
  const Codec codec;
  const OpenOptions options;
  // Objects whose headers document their locks.
  Roster roster;
  // The durable state. Needs Log::Locked, except for digests of pages that have not changed since
  // the last checkpoint, which the table reads.
  Index index;
  ChecksumTable table;
  BufferStock stock;
  Stripes stripes;
  Overlay overlay;
  LostBlocks lost;
};

}  // namespace calpe::array
