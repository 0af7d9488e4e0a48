// SPDX-License-Identifier: Apache-2.0
// Refuses remote locations, which the file commands cannot use yet. As a path, s3://bucket/a would
// be a directory "s3:" on the local disk.
#pragma once
#include <string_view>

#include <calpe/result.hpp>

namespace calpe::tools {

// Fails with invalid_argument for "s3://bucket", "rclone:remote:path" and every other scheme.
Status refuse_remote(std::string_view path);

}  // namespace calpe::tools
