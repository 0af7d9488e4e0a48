// SPDX-License-Identifier: Apache-2.0
#include "remote/place/directory_place.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>
#include <string_view>

#include "store/io/file_system.hpp"
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

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(entry.path().filename());
  }
  return names;
}

TEST(DirectoryPlace, RemovesWhatKilledPutsLeft) {
  const tests::ScratchFolder folder;
  std::filesystem::create_directory(folder.path("calpe-b"));
  folder.write(".calpe-put-dead1.part", "half");
  folder.write("calpe-b/.calpe-put-dead2.part", "half");
  folder.write(".calpe-0123-s003.part", "a local protect resumes this");
  auto& files = store::posix_files();
  const auto alive = files.open_to_change(folder.write(".calpe-put-alive.part", "half"));
  ASSERT_TRUE(alive) << alive.error().message;
  ASSERT_TRUE((*alive)->lock(store::LockKind::exclusive));

  const auto place = directory_place(folder.path(""));
  const std::string_view bytes = "object";
  for (const char* name : {"calpe-a", "calpe-b/c", "calpe-b/d", "calpe-b/d"}) {
    const Status done = place->put(name, std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(done) << done.error().message;
  }
  EXPECT_THAT(files_in(folder.path("")),
              testing::UnorderedElementsAre(".calpe-put-alive.part", ".calpe-0123-s003.part",
                                            "calpe-a", "c", "d"));
}

}  // namespace
}  // namespace calpe::remote
