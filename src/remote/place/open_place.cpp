// SPDX-License-Identifier: Apache-2.0
#include "remote/place/open_place.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"
#include "remote/place/directory_place.hpp"
#include "remote/place/rclone_place.hpp"
#include "remote/place/s3_place.hpp"

namespace calpe::remote {

Result<std::unique_ptr<Place>> open_place(const std::string& location,
                                          const PlaceOptions& options) {
  if (location.empty()) return invalid("a place is empty; expected a directory, s3:// or rclone:");
  if (location.starts_with("s3://")) return s3_place(location, options);
  if (location.starts_with("rclone:")) return rclone_place(location, options);
  const std::size_t scheme = location.find("://");
  if (scheme != std::string::npos && location.find('/') == scheme + 1) {
    return invalid(printable(location),
                   ": unknown kind of place; expected a directory, s3://BUCKET/PREFIX or "
                   "rclone:REMOTE:PATH");
  }
  return directory_place(location);
}

}  // namespace calpe::remote
