// SPDX-License-Identifier: Apache-2.0
#include "remote/place/http_client.hpp"

#include "base/settings_file.hpp"
#include "base/text.hpp"

#if CALPE_HAS_LIBCURL

#include <algorithm>
#include <cstring>
#include <curl/curl.h>
#include <optional>
#include <string_view>
#include <strings.h>

namespace calpe::remote {

namespace {

constexpr std::size_t text_bytes_max = std::size_t{8} << 20U;

struct Transfer {
  CURL* handle = nullptr;
  const HttpRequest* request = nullptr;
  HttpAnswer answer = {};
  std::size_t sent = 0;
  bool is_out_of_memory = false;
};

std::size_t take_body(char* data, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  long status = 0;
  curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
  const auto& into = transfer.request->into;
  if (status / 100 == 2 && !into.empty()) {
    if (count > into.size() - transfer.answer.got) return 0;  // more than the range: an error
    std::memcpy(into.data() + transfer.answer.got, data, count);
    transfer.answer.got += count;
    return count;
  }
  if (transfer.answer.text.size() + count > text_bytes_max) return 0;
  transfer.answer.text.append(data, count);
  return count;
}

std::size_t give_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const auto rest = transfer.request->body.subspan(transfer.sent);
  const std::size_t given = std::min(size * count, rest.size());
  if (given != 0) std::memcpy(data, rest.data(), given);
  transfer.sent += given;
  return given;
}

// Called when a connection turns out to be closed and the body is sent again.
int seek_body(void* user, curl_off_t offset, int origin) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  transfer.sent = static_cast<std::size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

// The value of a header line, if it has this name.
std::optional<std::string> header_value(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':' ||
      strncasecmp(line.data(), name.data(), name.size()) != 0)
    return std::nullopt;
  return std::string(trimmed(line.substr(name.size() + 1)));
}

std::size_t take_header(char* data, std::size_t, std::size_t count, void* user) {
  auto& answer = static_cast<Transfer*>(user)->answer;
  const std::string_view line(data, count);
  if (const auto date = header_value(line, "date")) {
    const time_t seconds = curl_getdate(date->c_str(), nullptr);
    if (seconds >= 0) answer.server_seconds = seconds;
  }
  if (auto range = header_value(line, "content-range")) answer.content_range = std::move(*range);
  return count;
}

// An exception must not pass through libcurl, which is C.
template <std::size_t (*callback)(char*, std::size_t, std::size_t, void*)>
std::size_t guarded_callback(char* data, std::size_t size, std::size_t count, void* user) noexcept {
  try {
    return callback(data, size, count, user);
  } catch (...) {  // only bad_alloc
    static_cast<Transfer*>(user)->is_out_of_memory = true;
    return 0;  // an error, as count is not 0
  }
}

class CurlClient final : public HttpClient {
 public:
  CurlClient(CURL* handle, unsigned timeout_s) : handle_(handle), timeout_s_(timeout_s) {}
  ~CurlClient() override { curl_easy_cleanup(handle_); }
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  Result<HttpAnswer> send(const HttpRequest& request) override {
    Transfer transfer = {.handle = handle_, .request = &request};
    curl_easy_reset(handle_);  // keeps the connection
    curl_slist* headers = nullptr;
    for (const std::string& header : request.headers)
      headers = curl_slist_append(headers, header.c_str());
    headers = curl_slist_append(headers, "Expect:");  // saves a round trip
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_HTTPHEADER, headers);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(std::min(timeout_s_, 20U)));
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(timeout_s_));
    set(CURLOPT_WRITEFUNCTION, guarded_callback<take_body>);
    set(CURLOPT_WRITEDATA, &transfer);
    set(CURLOPT_HEADERFUNCTION, guarded_callback<take_header>);
    set(CURLOPT_HEADERDATA, &transfer);
    set(CURLOPT_BUFFERSIZE, 256L << 10U);
    if (request.method == "PUT") {
      set(CURLOPT_UPLOAD, 1L);
      set(CURLOPT_READFUNCTION, give_body);
      set(CURLOPT_READDATA, &transfer);
      set(CURLOPT_SEEKFUNCTION, seek_body);
      set(CURLOPT_SEEKDATA, &transfer);
      set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    } else if (request.method != "GET") {
      set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    const CURLcode code = curl_easy_perform(handle_);
    curl_slist_free_all(headers);
    if (transfer.is_out_of_memory) return make_error(ErrorCode::io, "out of memory");
    if (code == CURLE_WRITE_ERROR)
      return make_error(ErrorCode::io, "the answer has more bytes than requested");
    if (code != CURLE_OK) return make_error(ErrorCode::io, curl_easy_strerror(code));
    curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &transfer.answer.status);
    return std::move(transfer.answer);
  }

 private:
  template <class T>
  void set(CURLoption option, T value) {
    curl_easy_setopt(handle_, option, value);
  }

  CURL* handle_;
  unsigned timeout_s_;
};

}  // namespace

Result<std::unique_ptr<HttpClient>> make_http_client(unsigned timeout_s) {
  static const CURLcode is_ready = curl_global_init(CURL_GLOBAL_DEFAULT);  // once, not thread-safe
  CURL* const handle = is_ready == CURLE_OK ? curl_easy_init() : nullptr;
  if (handle == nullptr)
    return make_error(ErrorCode::backend_unavailable, "libcurl does not start");
  return std::unique_ptr<HttpClient>(std::make_unique<CurlClient>(handle, timeout_s));
}

}  // namespace calpe::remote

#else

namespace calpe::remote {

Result<std::unique_ptr<HttpClient>> make_http_client(unsigned /*timeout_s*/) {
  return make_error(ErrorCode::backend_unavailable,
                    "this calpe was built without libcurl, so s3:// is not available; install "
                    "libcurl4-openssl-dev and build again, or use rclone:REMOTE:PATH");
}

}  // namespace calpe::remote

#endif
