// SPDX-License-Identifier: Apache-2.0
// Where a bucket is and how to sign requests for it, from the location, the usual AWS_* variables
// and the files ~/.aws/credentials and ~/.aws/config.
#pragma once
#include <string>

#include <calpe/result.hpp>

namespace calpe::remote {

struct S3Settings {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  // may be empty
  std::string region;
  std::string host;         // with the port: "127.0.0.1:9000"
  std::string scheme;       // "https"
  std::string bucket_path;  // "/bucket", or empty if the bucket is part of the host
  std::string prefix;       // "photos/", or empty
};

// A profile in the location takes everything from the files. Without one, variables come first.
// Fails with invalid_argument.
Result<S3Settings> s3_settings(const std::string& location);

}  // namespace calpe::remote
