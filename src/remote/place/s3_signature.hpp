// SPDX-License-Identifier: Apache-2.0
// Signs requests with AWS Signature Version 4, computed by libcrypto.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remote/place/s3_settings.hpp"

namespace calpe::remote {

struct S3Request {
  std::string method;
  std::string path;                          // decoded; begins with "/"
  std::map<std::string, std::string> query;  // decoded
  std::span<const std::byte> body;
};

// Percent-encodes all but unreserved characters, and "/" unless `keeps_slash`.
std::string percent_encoded(std::string_view words, bool keeps_slash);
std::string encoded_query(const std::map<std::string, std::string>& query);
std::string base64(std::span<const std::byte> bytes);
// Base64 of the MD5 of the body, which the service compares. Empty if libcrypto has no MD5.
std::string content_md5(std::span<const std::byte> body);

// The headers of a signed request, "name: value". `seconds`: the time since 1970.
std::vector<std::string> signed_headers(const S3Settings& settings, const S3Request& request,
                                        std::int64_t seconds);

}  // namespace calpe::remote
