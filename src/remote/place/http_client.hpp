// SPDX-License-Identifier: Apache-2.0
// One HTTP connection, by libcurl.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::remote {

struct HttpRequest {
  std::string method;  // GET, PUT or DELETE
  std::string url;
  std::vector<std::string> headers;
  std::span<const std::byte> body = {};
  // Receives the body of a successful answer; otherwise the body goes to HttpAnswer::text.
  std::span<std::byte> into = {};
};

struct HttpAnswer {
  long status = 0;
  std::string text;
  std::uint64_t got = 0;                       // bytes in `into`
  std::optional<std::int64_t> server_seconds;  // from the Date header
  std::string content_range;                   // the header's value, if there is one
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // Fails with io if no complete answer arrives.
  virtual Result<HttpAnswer> send(const HttpRequest& request) = 0;
};

// Fails with backend_unavailable if this build has no libcurl. timeout_s: limit without progress.
Result<std::unique_ptr<HttpClient>> make_http_client(unsigned timeout_s);

}  // namespace calpe::remote
