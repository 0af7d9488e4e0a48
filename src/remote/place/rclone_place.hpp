// SPDX-License-Identifier: Apache-2.0
// A place that the program rclone reaches. rclone has its own configuration, credentials,
// encryption (crypt) and repeats.
#pragma once
#include <memory>
#include <string>

#include "remote/place/open_place.hpp"

namespace calpe::remote {

// "rclone:REMOTE:PATH". Fails with backend_unavailable if there is no program rclone.
Result<std::unique_ptr<Place>> rclone_place(const std::string& location,
                                            const PlaceOptions& options);

}  // namespace calpe::remote
