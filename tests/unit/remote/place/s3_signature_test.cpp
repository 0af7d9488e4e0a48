// SPDX-License-Identifier: Apache-2.0
// Signatures of the examples in the documentation of Amazon S3, and the answers that we parse.
#include "remote/place/s3_signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "remote/place/s3_listing.hpp"

namespace calpe::remote {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

S3Settings example() {
  return {.access_key = "AKIAIOSFODNN7EXAMPLE",
          .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
          .session_token = "",
          .region = "us-east-1",
          .host = "examplebucket.s3.amazonaws.com",
          .scheme = "https",
          .bucket_path = "",
          .prefix = ""};
}

constexpr std::int64_t example_time = 1369353600;  // 2013-05-24 00:00:00 UTC

std::string signature(const S3Request& request) {
  return signed_headers(example(), request, example_time).back();
}

TEST(S3Signature, MatchesTheExamplesOfTheService) {
  EXPECT_THAT(signature({.method = "GET", .path = "/", .query = {{"lifecycle", ""}}, .body = {}}),
              EndsWith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  EXPECT_THAT(signature({.method = "GET",
                         .path = "/",
                         .query = {{"max-keys", "2"}, {"prefix", "J"}},
                         .body = {}}),
              EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(S3Signature, EncodesNamesAndSums) {
  EXPECT_EQ(percent_encoded("a b/c+d~", true), "a%20b/c%2Bd~");
  EXPECT_EQ(percent_encoded("a/b", false), "a%2Fb");
  const std::string body = "hello";
  EXPECT_EQ(content_md5(std::as_bytes(std::span(body))), "XUFAKrxLKna5cZ2REBfFkg==");
}

TEST(S3Listing, ReadsObjectsAndTheToken) {
  const auto page = parse_listing(
      "<ListBucketResult><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>a&amp;b</NextContinuationToken>"
      "<Contents><Key>p/x&amp;y</Key><Size>12</Size></Contents>"
      "<Contents><Key>p/</Key><Size>0</Size></Contents></ListBucketResult>",
      "p/", "s3://b");
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->objects.size(), 1U);
  EXPECT_EQ(page->objects[0].name, "x&y");
  EXPECT_EQ(page->objects[0].bytes, 12U);
  EXPECT_EQ(page->next, "a&b");
}

TEST(S3Listing, RefusesACutOrStrangeAnswer) {
  for (const char* xml :
       {"", "<html></html>", "<ListBucketResult><Contents><Key>p/x</Key>",
        "<ListBucketResult><Contents><Key>q/x</Key><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>p/x</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"}) {
    const auto page = parse_listing(xml, "p/", "s3://b");
    ASSERT_FALSE(page) << xml;
    EXPECT_THAT(page.error().message, HasSubstr("s3://b: "));
  }
}

}  // namespace
}  // namespace calpe::remote
