// SPDX-License-Identifier: Apache-2.0
#include "remote/place/directory_place.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scratch_folder.hpp"

namespace calpe::remote {
namespace {

using testing::HasSubstr;

std::vector<std::string> listed_names(Place& place, const std::string& folder) {
  const auto objects = place.list(folder);
  EXPECT_TRUE(objects) << objects.error().message;
  std::vector<std::string> names;
  if (!objects) return names;
  for (const ListedObject& object : *objects)
    names.push_back(object.name);
  return names;
}

// A link to itself stands for any error: stat fails with ELOOP, also for root.
TEST(DirectoryPlace, AnUnreadableObjectIsNotAMissingOne) {
  const tests::ScratchFolder folder;
  const auto place = directory_place(folder.path(""));
  std::ofstream(folder.path("calpe-a.g1")) << "generation";
  std::filesystem::create_symlink("calpe-a.g2", folder.path("calpe-a.g2"));
  const auto objects = place->list("");
  ASSERT_FALSE(objects);
  EXPECT_EQ(objects.error().code, ErrorCode::io);
  EXPECT_THAT(objects.error().message, HasSubstr("calpe-a.g2"));

  std::filesystem::create_symlink("calpe-b", folder.path("calpe-b"));
  EXPECT_FALSE(place->list("calpe-b"));
  EXPECT_TRUE(listed_names(*place, "calpe-c").empty());
}

TEST(DirectoryPlace, IgnoresFilesThatAreNoObjects) {
  const tests::ScratchFolder folder;
  const auto place = directory_place(folder.path(""));
  std::ofstream(folder.path("calpe-a.g1")) << "generation";
  std::filesystem::create_symlink("gone", folder.path("removed"));
  std::filesystem::create_symlink(".mount", folder.path(".mount"));
  std::filesystem::create_symlink("a b", folder.path("a b"));
  std::filesystem::create_directory(folder.path("directory"));
  EXPECT_EQ(listed_names(*place, ""), std::vector<std::string>{"calpe-a.g1"});
}

}  // namespace
}  // namespace calpe::remote
