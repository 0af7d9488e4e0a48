// SPDX-License-Identifier: Apache-2.0
// Adds the damage that earlier runs found in other parts to the report of verify.
#pragma once
#include <calpe/result.hpp>

#include "store/read/verify_set.hpp"

namespace calpe::tools {

// `damage`: in stripes that were not read for the report. Shards that are missing now count as
// lost there too. Fails with corrupt if the code of the set is invalid.
Status add_damage(store::VerifyReport& report, const store::FoundSet& set,
                  const store::ReadDamage& damage);

}  // namespace calpe::tools
