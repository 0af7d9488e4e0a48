// SPDX-License-Identifier: Apache-2.0
// Refuses a request to an array that is not served before its members are opened for writing.
#pragma once
#include "calpe/array/array_endpoint.hpp"

namespace calpe::tools {

// Returns {"ok":true} if nothing speaks against the request, or an answer with "code":"refused".
// Fails if the request is wrong. Only reads superblocks and the new file or disk. Requests to a
// server are not checked here: the server does it.
Result<nlohmann::ordered_json> check_request(const ArrayPlace& place,
                                             const nlohmann::ordered_json& request);

}  // namespace calpe::tools
