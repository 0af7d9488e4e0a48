// SPDX-License-Identifier: Apache-2.0
// Opens the place that a location names: a directory, s3://[PROFILE@]BUCKET[/PREFIX], or
// rclone:REMOTE:PATH.
#pragma once
#include <memory>
#include <string>

#include "remote/place/place.hpp"

namespace calpe::remote {

struct PlaceOptions {
  unsigned attempts = 6;    // for one request, with growing pauses
  unsigned timeout_s = 60;  // without any progress
};

// Does not connect. Fails with invalid_argument, and with backend_unavailable if this build or
// machine lacks what the location needs.
Result<std::unique_ptr<Place>> open_place(const std::string& location, const PlaceOptions& options);

}  // namespace calpe::remote
