// SPDX-License-Identifier: Apache-2.0
// Describes this process in a mark, and tells whether the process of a mark has certainly ended.
#pragma once
#include "remote/format/change_mark.hpp"

namespace calpe::remote {

// A mark with host, process, started, system and seconds.
ChangeMark mark_of_this_process();

// True only if the mark is from this boot of this computer and this process namespace, and there is
// no such process any more. A computer that was started again cannot be told from a clone of it.
bool has_ended(const ChangeMark& mark);

}  // namespace calpe::remote
