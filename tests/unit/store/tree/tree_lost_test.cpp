// SPDX-License-Identifier: Apache-2.0
// If some data of a tree is lost, every other file is restored.
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "store/tree/tree.hpp"
#include "support/sample_tree.hpp"
#include "support/workshop.hpp"

namespace calpe::store {
namespace {

using tests::look_at;
using tests::Workshop;

// Ten adjacent files of the given size, and one unreadable byte in file `lost`.
struct Case {
  std::uint64_t file_bytes = 0;
  std::size_t lost = 0;
  std::uint64_t lost_byte = 0;  // offset in the file
};

class RestoreLost : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::size_t file_count = 10;

  RestoreLost() {
    for (std::size_t i = 0; i < file_count; ++i) {
      Entry entry;
      entry.path = text("file", i);
      entry.mode = 0644;
      entry.file_bytes = GetParam().file_bytes;
      entry.extents = {{0, i * entry.file_bytes, entry.file_bytes}};
      manifest_.entries.push_back(std::move(entry));
    }
  }

  Status read(std::span<std::byte> bytes, std::uint64_t offset) const {
    const std::uint64_t hole = GetParam().lost * GetParam().file_bytes + GetParam().lost_byte;
    if (offset <= hole && hole < offset + bytes.size())
      return make_error(ErrorCode::unrecoverable, "stripe 7 is lost");
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = std::byte((offset + i) / GetParam().file_bytes);
    return Done{};
  }

  Status restore(const RestoreOptions& options) const {
    return restore_tree(
        manifest_, [&](auto bytes, std::uint64_t offset) { return read(bytes, offset); },
        workshop_.path("out"), options);
  }

  Workshop workshop_;
  Manifest manifest_;
};

TEST_P(RestoreLost, leaves_out_that_file_alone) {
  std::vector<std::string> lost;
  RestoreOptions options;
  options.on_lost = [&](const Entry& entry, const Error& error) {
    EXPECT_EQ(error.message, "stripe 7 is lost");
    lost.push_back(entry.path);
  };
  const Status done = restore(options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(lost, std::vector<std::string>{text("file", GetParam().lost)});
  auto seen = look_at(workshop_.path("out"));
  for (std::size_t i = 0; i < file_count; ++i) {
    const std::string name = text("file", i);
    ASSERT_EQ(seen.contains(name), i != GetParam().lost) << name;
    if (i == GetParam().lost) continue;
    EXPECT_EQ(seen[name].bytes, std::string(GetParam().file_bytes, static_cast<char>(i)));
    seen.erase(name);
  }
  for (const auto& [name, about] : seen)
    EXPECT_EQ(name.find(".calpe"), std::string::npos) << name << " is left";
}

TEST_P(RestoreLost, without_callback_it_ends_there) {
  const Status done = restore({});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::unrecoverable);
}

INSTANTIATE_TEST_SUITE_P(places, RestoreLost,
                         testing::Values(Case{100, 0, 0}, Case{100, 4, 50}, Case{100, 9, 99},
                                         Case{3U << 20U, 0, 1}, Case{3U << 20U, 5, 3000000}));

}  // namespace
}  // namespace calpe::store
