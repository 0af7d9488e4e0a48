// SPDX-License-Identifier: Apache-2.0
// What makes a place a member: an empty log and a superblock.
#pragma once
#include "array/format/members.hpp"
#include "array/format/superblock.hpp"

namespace calpe::array {

// No superblock, and zeros in the log.
Status wipe_member(Members& members, unsigned place, const MemberLayout& layout);
Status write_superblock(Members& members, unsigned place, unsigned copy,
                        const Superblock& superblock);

}  // namespace calpe::array
