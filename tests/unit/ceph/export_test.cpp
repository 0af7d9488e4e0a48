// SPDX-License-Identifier: Apache-2.0
#include "ceph/export.hpp"

#include "support/ceph_export_file.hpp"
#include "support/ceph_stripes.hpp"
#include "support/memory_files.hpp"

namespace calpe::ceph {
namespace {

using tests::ExportFile;
using tests::random_content;

Result<CephExport> read(tests::MemoryFiles& files, std::vector<std::byte> bytes) {
  files.put("f", std::move(bytes));
  const auto file = *files.open("f");
  return read_ceph_export(*file);
}

TEST(CephExport, has_every_object_with_its_size_and_version) {
  ExportFile out(3, 0x1f, 2);
  const auto first = random_content(12288, 1);
  out.add({.name = "a b", .bytes = 40000}, first, 5000);
  out.add({.name = "snapped", .space = "ns", .snapshot = 7, .version = 9, .bytes = 1}, {});
  out.add({.name = "rollback", .generation = 4}, first);
  tests::MemoryFiles files;
  const Result<CephExport> found = read(files, out.end());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->group(), "3.1f");
  EXPECT_EQ(found->group_id(), "3.1fs2");
  ASSERT_EQ(found->shards.size(), 2);  // without the one kept to undo a change
  const ExportedShard& shard = found->shards[0];
  EXPECT_EQ(shard.object.name, "a b");
  EXPECT_EQ(shard.object.snapshot, CephObjectName::head);
  EXPECT_EQ(shard.object.hash, 0xABCD);
  EXPECT_EQ(shard.object.pool, 3);
  EXPECT_EQ(shard.object_bytes, 40000);
  EXPECT_EQ(to_text(shard.version), "29'5");
  EXPECT_EQ(shard.shard_bytes, first.size());
  const auto file = *files.open("f");
  EXPECT_TRUE(*is_ceph_export(*file));
  EXPECT_EQ(*read_exported_shard(*file, shard), first);
  EXPECT_EQ(found->shards[1].object.space, "ns");
  EXPECT_EQ(found->shards[1].object.snapshot, 7);
  EXPECT_TRUE(read_exported_shard(*file, found->shards[1])->empty());
}

TEST(CephExport, has_the_versions_of_shards_that_changes_left_out) {
  ExportFile out(3, 1, 0);
  out.add({.name = "old"}, {});
  out.add({.name = "head", .version = 9, .bytes = 70, .shard_versions = {{1, 4}, {3, 8}}}, {});
  out.add({.name = "clone", .snapshot = 7, .bytes = 71, .shard_versions = {{2, 5}}}, {});
  tests::MemoryFiles files;
  const Result<CephExport> found = read(files, out.end());
  ASSERT_TRUE(found) << found.error().message;
  using Versions = std::map<ShardIndex, CephVersion>;
  EXPECT_EQ(found->shards[0].shard_versions, Versions());
  EXPECT_EQ(found->shards[1].shard_versions, (Versions{{1, {29, 4}}, {3, {29, 8}}}));
  EXPECT_EQ(found->shards[1].object_bytes, 70);
  EXPECT_EQ(found->shards[2].shard_versions, (Versions{{2, {29, 5}}}));
  EXPECT_EQ(found->shards[2].object_bytes, 71);
}

TEST(CephExport, tells_whether_the_pool_is_optimised) {
  tests::MemoryFiles files;
  EXPECT_EQ(read(files, ExportFile(3, 1, 0, 0x84005).end())->is_optimised, true);
  EXPECT_EQ(read(files, ExportFile(3, 1, 0, 0x4005).end())->is_optimised, false);
  EXPECT_EQ(read(files, ExportFile(3, 1, 0).end())->is_optimised, std::nullopt)
      << "unknown without a readable map";
}

TEST(CephExport, truncation_is_refused_at_every_byte) {
  ExportFile out(3, 1, 0, 0x84005);
  out.add({.name = "object", .bytes = 100, .shard_versions = {{1, 4}}}, random_content(300, 2));
  const std::vector<std::byte> whole = out.end();
  tests::MemoryFiles files;
  ASSERT_TRUE(read(files, whole));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto end = whole.begin() + static_cast<std::ptrdiff_t>(bytes);
    EXPECT_FALSE(read(files, {whole.begin(), end})) << bytes;
  }
}

TEST(CephExport, damage_never_crashes_the_reader) {
  ExportFile out(3, 1, 0, 0x84005);
  out.add({.name = "object", .bytes = 100, .shard_versions = {{1, 4}}}, random_content(300, 2));
  const std::vector<std::byte> whole = out.end();
  tests::MemoryFiles files;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> damaged = whole;
    damaged[at] ^= std::byte{0xFF};
    const Result<CephExport> found = read(files, damaged);
    refused += found ? 0 : 1;
    if (!found) continue;
    const auto file = *files.open("f");
    for (const ExportedShard& shard : found->shards)
      static_cast<void>(read_exported_shard(*file, shard));
  }
  EXPECT_GT(refused, 100);
}

TEST(CephExport, replicated_pools_and_other_files_are_refused) {
  ExportFile replicated(3, 1, 0xFF);
  tests::MemoryFiles files;
  EXPECT_EQ(read(files, replicated.end()).error().message,
            "f: export of a replicated pool; expected an erasure-coded pool");
  EXPECT_EQ(read(files, std::vector<std::byte>(100)).error().message,
            "f: not a complete export: no magic number at byte 0");
  files.put("f", std::vector<std::byte>(3));
  const auto file = *files.open("f");
  EXPECT_FALSE(*is_ceph_export(*file));
}

}  // namespace
}  // namespace calpe::ceph
