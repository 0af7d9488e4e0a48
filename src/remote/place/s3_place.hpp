// SPDX-License-Identifier: Apache-2.0
// A place in a bucket of a service that speaks the S3 protocol.
#pragma once
#include <memory>
#include <string>

#include "remote/place/open_place.hpp"

namespace calpe::remote {

// "s3://[PROFILE@]BUCKET[/PREFIX]". Credentials, region and endpoint: s3_settings.hpp.
Result<std::unique_ptr<Place>> s3_place(const std::string& location, const PlaceOptions& options);

}  // namespace calpe::remote
