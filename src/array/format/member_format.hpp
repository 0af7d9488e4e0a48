// SPDX-License-Identifier: Apache-2.0
// Formats a place as a member: an empty log and a superblock.
#pragma once
#include "array/format/members.hpp"
#include "array/format/superblock.hpp"

namespace calpe::array {

// Erases the superblocks and fills the log with zeros.
Status wipe_member(Members& members, unsigned place, const MemberLayout& layout);
Status wipe_superblocks(Members& members, unsigned place);
Status write_superblock(Members& members, unsigned place, unsigned copy,
                        const Superblock& superblock);

}  // namespace calpe::array
