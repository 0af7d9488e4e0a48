// SPDX-License-Identifier: Apache-2.0
// Result::value() returns the value, or throws the error.
#include <gtest/gtest.h>
#include <memory>

#include <calpe/result.hpp>

namespace calpe {
namespace {

Error refused() {
  return {ErrorCode::invalid_argument, "data has 3 shards; expected 4"};
}

TEST(ResultTest, ValueReturnsTheValue) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  EXPECT_EQ(*result.value(), 7);
  EXPECT_EQ(*std::as_const(result).value(), 7);
  *result.value() = 8;
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 8);
  EXPECT_NO_THROW(Status(Done{}).value());
}

template <class Access>
void expect_thrown(const Access& access) {
  try {
    access();
    FAIL() << "did not throw";
  } catch (const std::exception& thrown) {
    EXPECT_STREQ(thrown.what(), "data has 3 shards; expected 4");
    const auto* const bad = dynamic_cast<const BadResultAccess*>(&thrown);
    ASSERT_NE(bad, nullptr);
    EXPECT_EQ(bad->error().code, ErrorCode::invalid_argument);
  }
}

TEST(ResultTest, ValueThrowsTheError) {
  Result<int> result = refused();
  const Result<int>& constant = result;
  const Status status = refused();
  expect_thrown([&] { (void)result.value(); });
  expect_thrown([&] { (void)constant.value(); });
  expect_thrown([&] { status.value(); });
  expect_thrown([&] { (void)std::move(result).value(); });
}

}  // namespace
}  // namespace calpe
