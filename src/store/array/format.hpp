// SPDX-License-Identifier: Apache-2.0
// What makes a place a member: an empty log and a superblock.
#pragma once
#include "store/array/members.hpp"
#include "store/array/superblock.hpp"

namespace calpe::store::array {

// No superblock, and zeros in the log.
Status wipe_member(Members& members, unsigned place, const MemberLayout& layout);
Status write_superblock(Members& members, unsigned place, unsigned copy,
                        const Superblock& superblock);

}  // namespace calpe::store::array
