// SPDX-License-Identifier: Apache-2.0
// How an array is, for who asks: docs/array.md names the fields.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "array/service/service.hpp"

namespace calpe::array {

nlohmann::ordered_json status_json(Service& service);

// Of members that nobody serves, from their superblocks alone: nothing is opened, recovered or
// written, so there is nothing in it of what only the log or the index has.
nlohmann::ordered_json inspection_json(const array::FileMembers& files,
                                       const array::Inspection& now);

}  // namespace calpe::array
