// SPDX-License-Identifier: Apache-2.0
#include "remote/place/s3_place.hpp"

#include <chrono>
#include <ctime>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/place/http_client.hpp"
#include "remote/place/s3_listing.hpp"
#include "remote/place/s3_signature.hpp"

namespace calpe::remote {

namespace {

constexpr auto first_pause = std::chrono::milliseconds(200);
constexpr auto longest_pause = std::chrono::milliseconds(10'000);

bool is_worth_repeating(long status, const std::string& code) {
  return status >= 500 || status == 429 || status == 408 || code == "RequestTimeout" ||
         code == "BadDigest" || code == "XAmzContentSHA256Mismatch" || code == "IncompleteBody";
}

// Objects have at most 64 MiB and are whole in memory, so each is one PUT. The service
// compares it with the SHA-256 that the signature covers and with Content-MD5, and stores it
// whole or not at all. Parts would need neither less memory nor fewer repeats.
class S3Place final : public Place {
 public:
  S3Place(std::string label, S3Settings settings, std::unique_ptr<HttpClient> client,
          unsigned attempts)
      : label_(std::move(label)),
        settings_(std::move(settings)),
        client_(std::move(client)),
        attempts_(attempts) {}

  const std::string& label() const noexcept override { return label_; }

  std::string identity() const override {
    return text(settings_.scheme, "://", settings_.host, settings_.bucket_path, "/",
                settings_.prefix);
  }

  Result<std::vector<ListedObject>> list(const std::string& folder) override {
    const std::string prefix = settings_.prefix + (folder.empty() ? "" : folder + "/");
    std::vector<ListedObject> objects;
    std::string next;
    do {
      S3Request request = {
          .method = "GET", .path = settings_.bucket_path + "/", .query = {}, .body = {}};
      request.query = {{"delimiter", "/"}, {"list-type", "2"}, {"prefix", prefix}};
      if (!next.empty()) request.query["continuation-token"] = next;
      CALPE_TRY(const HttpAnswer answer, send(request, {}, {}, 0, false));
      CALPE_TRY(S3Listing page, parse_listing(answer.text, prefix, label_));
      objects.insert(objects.end(), page.objects.begin(), page.objects.end());
      if (!page.next.empty() && page.next == next)
        return make_error(ErrorCode::io, label_, ": the listing repeats itself");
      next = std::move(page.next);
    } while (!next.empty());
    return objects;
  }

  Status read(const std::string& name, std::span<std::byte> bytes, std::uint64_t offset) override {
    if (bytes.empty()) return Done{};
    const S3Request request = {.method = "GET", .path = path_of(name), .query = {}, .body = {}};
    const std::string range = text("Range: bytes=", offset, "-", offset + bytes.size() - 1);
    CALPE_TRY([[maybe_unused]] const HttpAnswer answer,
              send(request, {range}, bytes, offset, false));
    return Done{};
  }

  Status put(const std::string& name, std::span<const std::byte> bytes) override {
    const S3Request request = {.method = "PUT", .path = path_of(name), .query = {}, .body = bytes};
    std::vector<std::string> headers = {"Content-Type: application/octet-stream"};
    if (const std::string md5 = content_md5(bytes); !md5.empty())
      headers.push_back("Content-MD5: " + md5);
    CALPE_TRY([[maybe_unused]] const HttpAnswer answer, send(request, headers, {}, 0, false));
    return Done{};
  }

  Status remove(const std::string& name) override {
    const S3Request request = {.method = "DELETE", .path = path_of(name), .query = {}, .body = {}};
    CALPE_TRY([[maybe_unused]] const HttpAnswer answer, send(request, {}, {}, 0, true));
    return Done{};
  }

 private:
  std::string path_of(const std::string& name) const {
    return text(settings_.bucket_path, "/", settings_.prefix, name);
  }

  // Repeats what may succeed later. Returns answers of status 2xx only, and 404 if `may_be_gone`.
  // `into` gets the bytes from the offset.
  Result<HttpAnswer> send(const S3Request& request, const std::vector<std::string>& headers,
                          std::span<std::byte> into, std::uint64_t offset, bool may_be_gone) {
    Error error = {ErrorCode::io, ""};
    for (unsigned attempt = 0; attempt < attempts_; ++attempt) {
      if (attempt != 0) pause(attempt);
      const auto now = static_cast<std::int64_t>(std::time(nullptr));
      HttpRequest http = {.method = request.method,
                          .url = url_of(request),
                          .headers = signed_headers(settings_, request, now + clock_ahead_),
                          .body = request.body,
                          .into = into};
      http.headers.insert(http.headers.end(), headers.begin(), headers.end());
      Result<HttpAnswer> answer = client_->send(http);
      if (!answer) {
        error = describe(request, answer.error().message);
        continue;
      }
      const bool is_complete = into.empty() || answer->got == into.size();
      if (answer->status / 100 == 2 && is_complete && has_range(*answer, offset, into))
        return answer;
      if (answer->status == 404 && may_be_gone) return answer;
      if (answer->status / 100 == 2) {
        error = describe(request, text("the answer has ", answer->got, " bytes of range '",
                                       printable(answer->content_range), "'; expected ",
                                       into.size(), " from ", offset));
        continue;
      }
      const std::string code = xml_value(answer->text, "Code");
      error = describe(request, text("HTTP status ", answer->status, " ", printable(code), " ",
                                     printable(xml_value(answer->text, "Message"))));
      if (code == "RequestTimeTooSkewed" && answer->server_seconds) {
        clock_ahead_ = *answer->server_seconds - now;  // our clock is wrong, or theirs
        continue;
      }
      if (!is_worth_repeating(answer->status, code)) return error;
    }
    return error;
  }

  // True if the bytes are those from the offset. Some servers (rclone's) answer a range with 200
  // instead of 206, but with the header. Without the header, 200 means that the server ignored the
  // request and sent the whole object.
  static bool has_range(const HttpAnswer& answer, std::uint64_t offset,
                        std::span<const std::byte> into) {
    if (into.empty()) return true;
    if (answer.content_range.empty()) return answer.status == 206 || offset == 0;
    return answer.content_range.starts_with(
        text("bytes ", offset, "-", offset + into.size() - 1, "/"));
  }

  Error describe(const S3Request& request, const std::string& what) const {
    return make_error(ErrorCode::io, label_, ": ", request.method, " ",
                      printable(request.path.substr(request.path.rfind('/') + 1)), ": ", what);
  }

  std::string url_of(const S3Request& request) const {
    const std::string query = encoded_query(request.query);
    return text(settings_.scheme, "://", settings_.host, percent_encoded(request.path, true),
                query.empty() ? "" : "?", query);
  }

  // Doubles each time; a random part spreads clients that were refused together.
  void pause(unsigned attempt) {
    auto wait = first_pause * (1U << std::min(attempt - 1, 10U));
    if (wait > longest_pause) wait = longest_pause;
    const auto random =
        std::uniform_int_distribution<long>(wait.count() / 2, wait.count())(random_);
    std::this_thread::sleep_for(std::chrono::milliseconds(random));
  }

  std::string label_;
  S3Settings settings_;
  std::unique_ptr<HttpClient> client_;
  unsigned attempts_;
  std::int64_t clock_ahead_ = 0;  // of the service
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

Result<std::unique_ptr<Place>> s3_place(const std::string& location, const PlaceOptions& options) {
  CALPE_TRY(std::unique_ptr<HttpClient> client, make_http_client(options.timeout_s));
  CALPE_TRY(S3Settings settings, s3_settings(location));
  return std::unique_ptr<Place>(std::make_unique<S3Place>(
      location, std::move(settings), std::move(client), std::max(options.attempts, 1U)));
}

}  // namespace calpe::remote
