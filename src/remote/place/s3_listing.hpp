// SPDX-License-Identifier: Apache-2.0
// Parses the few XML answers of S3 that are needed. The input is not trusted.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "remote/place/place.hpp"

namespace calpe::remote {

// The text of the first element of this name, with entities decoded; empty if there is none.
std::string xml_value(std::string_view xml, std::string_view name);

struct S3Listing {
  std::vector<ListedObject> objects;  // names without the prefix
  std::string next;                   // continuation token; empty at the end
};
// Fails with io, with the label.
Result<S3Listing> parse_listing(std::string_view xml, const std::string& prefix,
                                const std::string& label);

}  // namespace calpe::remote
