// SPDX-License-Identifier: Apache-2.0
#include "store/format/key.hpp"

#include <algorithm>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <optional>
#include <unistd.h>
#include <utility>

namespace calpe::store {
namespace {

constexpr std::byte secret{0x5A};

// Bytes at the start of free memory that the allocator uses itself.
constexpr std::size_t allocator_bytes = 64;

// Reads memory that may be freed by now through the system, as no pointer may access it.
std::size_t secrets_at(std::uintptr_t address, std::size_t bytes) {
  std::vector<std::byte> read(bytes);
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  const ssize_t got = ::pread(memory, read.data(), bytes, static_cast<off_t>(address));
  ::close(memory);
  EXPECT_EQ(got, static_cast<ssize_t>(bytes));
  return static_cast<std::size_t>(std::count(read.begin(), read.end(), secret));
}

std::uintptr_t address_of(const Key& key) {
  return reinterpret_cast<std::uintptr_t>(std::span<const std::byte>(key).data());
}

TEST(Key, IsWipedOnDestruction) {
  const std::size_t bytes = 4096;
  std::optional<Key> key(std::vector<std::byte>(bytes, secret));
  const std::uintptr_t place = address_of(*key);
  EXPECT_EQ(secrets_at(place, bytes), bytes);
  key.reset();
  EXPECT_EQ(secrets_at(place + allocator_bytes, bytes - allocator_bytes), 0U);
}

TEST(Key, IsWipedOnAssignment) {
  const std::size_t bytes = 4096;
  Key key(std::vector<std::byte>(bytes, secret));
  const std::uintptr_t place = address_of(key);
  key = Key(std::vector<std::byte>(16, std::byte{1}));
  EXPECT_EQ(secrets_at(place + allocator_bytes, bytes - allocator_bytes), 0U);
  EXPECT_EQ(key.size(), 16U);
}

TEST(Key, MoveLeavesNoCopy) {
  Key key(std::vector<std::byte>(48, secret));
  const std::uintptr_t place = address_of(key);
  const Key moved = std::move(key);
  EXPECT_EQ(address_of(moved), place);
  EXPECT_TRUE(key.empty());  // NOLINT(bugprone-use-after-move): nothing of it may stay there
}

}  // namespace
}  // namespace calpe::store
