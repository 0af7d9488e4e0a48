// SPDX-License-Identifier: Apache-2.0
// Simulates a libcrypto without SHA-256, as with a missing provider: new digests and keys fail
// during its lifetime.
#pragma once
#include <gtest/gtest.h>
#include <openssl/evp.h>

namespace calpe::tests {

class WithoutSha256 {
 public:
  WithoutSha256() { EXPECT_EQ(EVP_set_default_properties(nullptr, "provider=none"), 1); }
  ~WithoutSha256() { EXPECT_EQ(EVP_set_default_properties(nullptr, ""), 1); }
  WithoutSha256(const WithoutSha256&) = delete;
  WithoutSha256& operator=(const WithoutSha256&) = delete;
};

}  // namespace calpe::tests
