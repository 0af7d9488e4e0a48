// SPDX-License-Identifier: Apache-2.0
#include "remote/place/s3_signature.hpp"

#include <array>
#include <ctime>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "base/assert.hpp"
#include "base/hex_digits.hpp"
#include "base/text.hpp"

namespace calpe::remote {

namespace {

using Sum = std::array<std::byte, 32>;

Sum sha256(std::span<const std::byte> bytes) {
  Sum sum = {};
  unsigned length = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(sum.data()), &length,
                 EVP_sha256(), nullptr);
  CALPE_ASSERT(done == 1 && length == sum.size());
  return sum;
}

Sum hmac(std::span<const std::byte> key, std::string_view words) {
  Sum sum = {};
  unsigned length = 0;
  const auto* const done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                reinterpret_cast<const unsigned char*>(words.data()), words.size(),
                                reinterpret_cast<unsigned char*>(sum.data()), &length);
  CALPE_ASSERT(done != nullptr && length == sum.size());
  return sum;
}

std::span<const std::byte> bytes_of(std::string_view words) {
  return std::as_bytes(std::span(words));
}

std::string time_text(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc = {};
  gmtime_r(&time, &utc);
  std::array<char, 32> out = {};
  std::strftime(out.data(), out.size(), "%Y%m%dT%H%M%SZ", &utc);
  return out.data();
}

}  // namespace

std::string percent_encoded(std::string_view words, bool keeps_slash) {
  std::string out;
  for (const char c : words) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~' ||
                          (c == '/' && keeps_slash);
    if (is_plain) {
      out += c;
      continue;
    }
    constexpr std::string_view digits = "0123456789ABCDEF";
    const auto value = static_cast<unsigned char>(c);
    out += '%';
    out += digits[value >> 4U];
    out += digits[value & 15U];
  }
  return out;
}

std::string encoded_query(const std::map<std::string, std::string>& query) {
  std::string out;
  for (const auto& [key, value] : query) {
    out += text(out.empty() ? "" : "&", percent_encoded(key, false), "=",
                percent_encoded(value, false));
  }
  return out;
}

std::string base64(std::span<const std::byte> bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(length));
  return out;
}

std::string content_md5(std::span<const std::byte> body) {
  std::array<std::byte, EVP_MAX_MD_SIZE> sum = {};
  unsigned length = 0;
  const int done =
      EVP_Digest(body.data(), body.size(), reinterpret_cast<unsigned char*>(sum.data()), &length,
                 EVP_md5(), nullptr);
  return done == 1 ? base64(std::span(sum).first(length)) : "";
}

std::vector<std::string> signed_headers(const S3Settings& settings, const S3Request& request,
                                        std::int64_t seconds) {
  const std::string time = time_text(seconds);
  const std::string day = time.substr(0, 8);
  const std::string body_sum = hex_digits(sha256(request.body));
  std::map<std::string, std::string> headers = {
      {"host", settings.host}, {"x-amz-content-sha256", body_sum}, {"x-amz-date", time}};
  if (!settings.session_token.empty()) headers["x-amz-security-token"] = settings.session_token;
  std::string names;
  std::string lines;
  for (const auto& [name, value] : headers) {
    names += text(names.empty() ? "" : ";", name);
    lines += text(name, ":", value, "\n");
  }
  const std::string canonical =
      text(request.method, "\n", percent_encoded(request.path, true), "\n",
           encoded_query(request.query), "\n", lines, "\n", names, "\n", body_sum);
  const std::string scope = text(day, "/", settings.region, "/s3/aws4_request");
  const std::string to_sign =
      text("AWS4-HMAC-SHA256\n", time, "\n", scope, "\n", hex_digits(sha256(bytes_of(canonical))));
  Sum key = hmac(bytes_of("AWS4" + settings.secret_key), day);
  key = hmac(key, settings.region);
  key = hmac(key, "s3");
  key = hmac(key, "aws4_request");
  std::vector<std::string> out;
  for (const auto& [name, value] : headers) {
    if (name != "host") out.push_back(text(name, ": ", value));
  }
  out.push_back(text("Authorization: AWS4-HMAC-SHA256 Credential=", settings.access_key, "/", scope,
                     ", SignedHeaders=", names, ", Signature=", hex_digits(hmac(key, to_sign))));
  return out;
}

}  // namespace calpe::remote
