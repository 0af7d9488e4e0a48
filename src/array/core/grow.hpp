// SPDX-License-Identifier: Apache-2.0
// Adds capacity to an open array whose members are larger than it needs: a new segment behind the
// old ones, with a larger index. No block moves, so redundancy stays as it is.
//
// The new index is made durable on all members first. Then one superblock makes the array larger: a
// crash leaves either the old or the new size. Opening the array again writes another superblock
// before it changes anything of the old size. So the older copy of a superblock, which an older
// version may still read, stays valid until it is overwritten.
#pragma once
#include <cstdint>

#include <calpe/result.hpp>

#include "array/core/open_array.hpp"
#include "array/state/member_probe.hpp"

namespace calpe::array {

// The size that the array can grow to, with all its members and spares. Fails as grow() does.
Result<Growth> plan_growth(Members& members, const Survey& found, std::uint64_t bytes_asked);

// Grows to `bytes_asked`, or as far as the members allow if it is 0. Fails with invalid_argument if
// a member is out or being replaced, or is too small. No other call may use the array, and none may
// afterwards: if `must_reopen`, the members are ahead of this object.
Status grow(OpenArray& array, std::uint64_t bytes_asked, bool& must_reopen);

}  // namespace calpe::array
