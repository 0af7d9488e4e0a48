// SPDX-License-Identifier: Apache-2.0
// The status of an array as JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "array/service/service.hpp"

namespace calpe::array {

nlohmann::ordered_json status_json(Service& service);

// Status of members that are not served, from their superblocks alone. Nothing is opened, recovered
// or written, so facts from the log or the index are missing.
nlohmann::ordered_json inspection_json(const array::FileMembers& files,
                                       const array::Inspection& now);

}  // namespace calpe::array
