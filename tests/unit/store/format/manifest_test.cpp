// SPDX-License-Identifier: Apache-2.0
// Manifests: round trip, each rule by itself, and thousands of damaged ones.
#include "store/format/manifest.hpp"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

#include "base/little_endian.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::store {
namespace {

constexpr std::uint64_t data_bytes = 10'000;
using Bytes = std::vector<std::byte>;

Entry file(std::string path, std::uint64_t file_bytes, std::vector<Extent> extents) {
  return {.type = EntryType::file,
          .path = std::move(path),
          .target = {},
          .mode = 0644,
          .user = 1000,
          .group = 100,
          .seconds = -5,
          .nanoseconds = 999'999'999,
          .file_bytes = file_bytes,
          .extents = std::move(extents)};
}

Entry folder(std::string path) {
  Entry made = file(std::move(path), 0, {});
  made.type = EntryType::folder;
  made.mode = 07777;
  return made;
}

Entry link(std::string path, std::string target) {
  Entry made = file(std::move(path), 0, {});
  made.type = EntryType::link;
  made.target = std::move(target);
  return made;
}

Manifest usual() {
  return {.entries = {
              folder(""), file("a", 4000, {{0, 0, 4000}}), folder("b"), link("b/link", "/etc/../x"),
              folder("b/c"),
              file("b/c/holes", 1'000'000, {{100, 4000, 50}, {150, 4050, 1}, {999'999, 9999, 1}}),
              file("b/c/\n\xff\x80 odd", 0, {}), file("b.d", 7, {{0, 5000, 7}})}};
}

// Sets the checksum that the parser expects for these bytes.
void fix_checksum(Bytes& bytes) {
  if (bytes.size() < 8) return;
  const std::uint64_t sum = plain_checksum(std::span(bytes).first(bytes.size() - 8));
  store_little(bytes.data() + bytes.size() - 8, sum);
}

// Checks the rules independently: with a map of all content bytes, and sets of paths.
testing::AssertionResult keeps_rules(const Manifest& manifest, std::uint64_t end) {
  const auto breaks = [](const std::string& what) { return testing::AssertionFailure() << what; };
  std::set<std::string> paths;
  std::set<std::string> folders = {""};
  std::map<std::uint64_t, std::uint64_t> used;
  std::size_t index = 0;
  for (const Entry& entry : manifest.entries) {
    if (!paths.insert(entry.path).second) return breaks("twice");
    if (entry.path.empty()) {
      const bool fine = (entry.type == EntryType::stream && manifest.entries.size() == 1) ||
                        (entry.type == EntryType::folder && index == 0);
      if (!fine) return breaks("empty path");
    } else {
      if (entry.type == EntryType::stream) return breaks("stream with a path");
      const std::string framed = "/" + entry.path + "/";
      for (const char* wrong : {"//", "/./", "/../"}) {
        if (framed.find(wrong) != std::string::npos) return breaks("path part");
      }
      const std::size_t slash = entry.path.rfind('/');
      const std::string above = slash == std::string::npos ? "" : entry.path.substr(0, slash);
      if (!folders.contains(above)) return breaks("not in a folder");
    }
    if (entry.type == EntryType::folder) folders.insert(entry.path);
    if (std::strlen(entry.path.c_str()) != entry.path.size()) return breaks("0 in path");
    if (std::strlen(entry.target.c_str()) != entry.target.size()) return breaks("0 in target");
    if ((entry.type == EntryType::link) != (entry.target.size() > 0)) return breaks("target");
    if ((entry.mode & ~07777U) != 0 || entry.nanoseconds > 999'999'999) return breaks("mode, time");
    if (static_cast<std::int64_t>(entry.file_bytes) < 0) return breaks("file bytes");
    const bool has_data = entry.type == EntryType::file || entry.type == EntryType::stream;
    if (!has_data && entry.file_bytes + entry.extents.size() != 0) return breaks("data");
    __extension__ using Wide = unsigned __int128;
    Wide last = 0;
    for (const Extent& extent : entry.extents) {
      if (extent.bytes == 0 || extent.file_offset < last) return breaks("extents order");
      last = Wide{extent.file_offset} + extent.bytes;
      if (last > entry.file_bytes) return breaks("extent beyond the file");
      if (Wide{extent.content_offset} + extent.bytes > end) return breaks("beyond the data");
      const auto after = used.lower_bound(extent.content_offset);
      if (after != used.end() && after->first < extent.content_offset + extent.bytes) {
        return breaks("overlap");
      }
      if (after != used.begin() && std::prev(after)->second > extent.content_offset) {
        return breaks("overlap");
      }
      used[extent.content_offset] = extent.content_offset + extent.bytes;
    }
    ++index;
  }
  return testing::AssertionSuccess();
}

std::string error_of(const Bytes& bytes) {
  const auto parsed = parse_manifest(bytes, data_bytes);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().code, ErrorCode::corrupt);
  return parsed.error().message;
}

TEST(Manifest, comes_back) {
  const Manifest stream = {.entries = {{.type = EntryType::stream,
                                        .path = {},
                                        .target = {},
                                        .file_bytes = 3,
                                        .extents = {{0, 0, 3}}}}};
  for (const Manifest& manifest :
       {usual(), stream, Manifest{}, Manifest{.entries = {folder("")}}}) {
    const Bytes bytes = to_bytes(manifest);
    const auto parsed = parse_manifest(bytes, data_bytes);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, manifest);
    EXPECT_TRUE(keeps_rules(manifest, data_bytes));
  }
}

TEST(Manifest, digests_are_of_files_in_a_manifest_of_their_own_version) {
  Manifest manifest = usual();
  manifest.has_digests = true;
  std::uint64_t files = 0;
  for (Entry& entry : manifest.entries) {
    if (entry.type == EntryType::file) entry.digest = 0x1122334455667788 + files++;
  }
  ASSERT_GT(files, 0U);
  const Bytes bytes = to_bytes(manifest);
  EXPECT_EQ(bytes.size(), manifest_size(manifest));
  EXPECT_EQ(bytes.size(), to_bytes(usual()).size() + 8 * manifest.entries.size());
  const auto parsed = parse_manifest(bytes, data_bytes, true);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, manifest);
  EXPECT_FALSE(parse_manifest(bytes, data_bytes));
  EXPECT_FALSE(parse_manifest(to_bytes(usual()), data_bytes, true));
  manifest = {.entries = {folder("")}, .has_digests = true};
  manifest.entries[0].digest = 1;
  EXPECT_FALSE(parse_manifest(to_bytes(manifest), data_bytes, true)) << "digest of a directory";
}

// Every byte of a small manifest, as docs/format.md specifies it.
TEST(Manifest, has_the_bytes_of_the_specification) {
  Entry entry = link("pq", "xyz");
  entry.mode = 0x0123;
  entry.user = 0x04050607;
  entry.group = 0x08090a0b;
  entry.nanoseconds = 0x0c0d0e0f;
  entry.seconds = -2;
  const Bytes bytes = to_bytes({.entries = {entry, file("r", 0x1122, {{0x10, 0x20, 0x30}})}});
  const unsigned char expected[] = {
      'c',  'a',  'l',  'p',  'e',  '-',  'm',  '1',  2,    0,    0,   0,  //
      2,    0,    2,    0,    3,    0,    0,    0,    0x23, 1,    0,   0,   7,    6, 5, 4,
      0x0b, 0x0a, 9,    8,    0x0f, 0x0e, 0x0d, 0x0c,                                       //
      0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,    0,    0,   0,   0,    0, 0, 0,  //
      0,    0,    0,    0,    0,    0,    0,    0,    'p',  'q',  'x', 'y', 'z',            //
      0,    0,    1,    0,    0,    0,    0,    0,    0xa4, 1,    0,   0,   0xe8, 3, 0, 0,
      100,  0,    0,    0,    0xff, 0xc9, 0x9a, 0x3b,                                       //
      0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x22, 0x11, 0,   0,   0,    0, 0, 0,  //
      1,    0,    0,    0,    0,    0,    0,    0,                                          //
      0x10, 0,    0,    0,    0,    0,    0,    0,    0x20, 0,    0,   0,   0,    0, 0, 0,
      0x30, 0,    0,    0,    0,    0,    0,    0,    'r'};
  ASSERT_EQ(bytes.size(), sizeof expected + 8);
  EXPECT_EQ(std::memcmp(bytes.data(), expected, sizeof expected), 0);
  Bytes again = bytes;
  fix_checksum(again);
  EXPECT_EQ(again, bytes);
}

struct Hostile {
  const char* rule;  // part of the message
  std::function<void(Manifest&)> change;
};

TEST(Manifest, each_broken_rule_is_named) {
  const auto path = [](std::size_t index, std::string name) {
    return [=](Manifest& manifest) { manifest.entries[index].path = name; };
  };
  const auto extent = [](std::size_t index, Extent put) {
    return [=](Manifest& manifest) { manifest.entries[5].extents[index] = put; };
  };
  constexpr std::uint64_t top = ~std::uint64_t{0};
  const std::vector<Hostile> cases = {
      {"entry 1 \"..\": the path contains . or ..", path(1, "..")},
      {"entry 1 \"../a\": the path contains . or ..", path(1, "../a")},
      {"entry 7 \"b/../a\": the path contains . or ..", path(7, "b/../a")},
      {"entry 1 \".\": the path contains . or ..", path(1, ".")},
      {"entry 7 \"b/.\": the path contains . or ..", path(7, "b/.")},
      {"entry 1 \"/a\": the path is absolute or has an empty component", path(1, "/a")},
      {"entry 7 \"b//a\": the path is absolute or has an empty component", path(7, "b//a")},
      {"entry 2 \"b/\": the path is absolute or has an empty component", path(2, "b/")},
      {"entry 1 \"\": the path is absolute or has an empty component", path(1, "")},
      {"entry 2 \"\": the path is absolute or has an empty component", path(2, "")},
      {"entry 1 \"x\\x00y\": the path contains a zero byte", path(1, std::string("x\0y", 3))},
      {"entry 3 \"b/link\": the target contains a zero byte",
       [](Manifest& manifest) { manifest.entries[3].target[2] = '\0'; }},
      {"entry 7 \"a\": the same path as entry 1", path(7, "a")},
      {"entry 7 \"a/x\": below entry 1, which is not a directory", path(7, "a/x")},
      {"entry 7 \"b/link/x\": below entry 3, which is not a directory", path(7, "b/link/x")},
      {"entry 7 \"b/none/x\": its directory does not come before it", path(7, "b/none/x")},
      {"entry 1 \"b/x\": its directory does not come before it", path(1, "b/x")},
      {"entry 3 \"b/link\": a target of 0 bytes; expected some",
       [](Manifest& manifest) { manifest.entries[3].target.clear(); }},
      {"entry 1 \"a\": a target of 1 bytes; expected none",
       [](Manifest& manifest) { manifest.entries[1].target = "t"; }},
      {"entry 1 \"a\": mode is 4096",
       [](Manifest& manifest) { manifest.entries[1].mode = 010000; }},
      {"entry 1 \"a\": 1000000000 nanoseconds",
       [](Manifest& manifest) { manifest.entries[1].nanoseconds = 1'000'000'000; }},
      {"entry 2 \"b\": 1 bytes in 0 extents, but it is not a file",
       [](Manifest& manifest) { manifest.entries[2].file_bytes = 1; }},
      {"entry 3 \"b/link\": 0 bytes in 1 extents, but it is not a file",
       [](Manifest& manifest) {
         manifest.entries[3].extents = {{0, 0, 1}};
       }},
      {"entry 6 \"b/c/\\x0a\\xff\\x80 odd\": 9223372036854775808 bytes",
       [](Manifest& manifest) { manifest.entries[6].file_bytes = std::uint64_t{1} << 63U; }},
      {"\"b/c/holes\": an extent of 0 bytes", extent(0, {100, 4000, 0})},
      {"\"b/c/holes\": an extent begins at 149, before the end of the last one at 150",
       extent(1, {149, 4050, 1})},
      {"\"b/c/holes\": an extent of 2 bytes at 999999 in a file of 1000000",
       extent(2, {999'999, 9998, 2})},
      {"\"b/c/holes\": an extent of 1 bytes at 1000000 in a file", extent(2, {1'000'000, 9998, 1})},
      {"\"b/c/holes\": an extent of 18446744073709551615 bytes at 999999",
       extent(2, {999'999, 9998, top})},
      {"at 18446744073709551615 in a file of 1000000", extent(2, {top, 9998, 2})},
      {"at 10000 of the content, whose data ends at 10000", extent(2, {999'999, 10'000, 1})},
      {"at 18446744073709551615 of the content", extent(2, {999'999, top, 1})},
      {"entry 5 \"b/c/holes\": an extent overlaps one of entry 1", extent(0, {100, 3999, 50})},
      {"entry 7 \"b.d\": an extent overlaps one of entry 5", extent(2, {999'999, 5006, 1})},
      {"an extent overlaps one of entry 5 in the content", extent(1, {150, 4049, 1})},
      {"entry 7 \"b.d\": a stream must be the only entry",
       [](Manifest& manifest) { manifest.entries[7].type = EntryType::stream; }},
      {"entry 0 \"s\": a stream must be the only entry",
       [](Manifest& manifest) {
         manifest.entries = {file("s", 0, {})};
         manifest.entries[0].type = EntryType::stream;
       }},
      {"entry 0 \"\": a stream must be the only entry",
       [](Manifest& manifest) {
         manifest.entries[0] = file("", 0, {});
         manifest.entries[0].type = EntryType::stream;
       }},
      {"entry 7 \"zz/x\": its directory does not come before it", path(7, "zz/x")},
  };
  for (const Hostile& hostile : cases) {
    Manifest manifest = usual();
    hostile.change(manifest);
    EXPECT_FALSE(keeps_rules(manifest, data_bytes)) << hostile.rule;
    EXPECT_NE(error_of(to_bytes(manifest)).find(hostile.rule), std::string::npos)
        << hostile.rule << "\n"
        << error_of(to_bytes(manifest));
  }
}

// The writer refuses lengths that do not fit the format.
TEST(Manifest, texts_have_a_maximum_length) {
  const std::string longest(65'535, 'p');
  Manifest manifest = {.entries = {folder(""), file(longest, 0, {}), link("z", longest)}};
  EXPECT_TRUE(check_manifest(manifest, data_bytes).has_value());
  manifest.entries[1].path += 'p';
  const Status long_path = check_manifest(manifest, data_bytes);
  ASSERT_FALSE(long_path.has_value());
  EXPECT_NE(long_path.error().message.find("65536 and 0 bytes; expected at most 65535"),
            std::string::npos);
  manifest.entries[1].path = "a";
  manifest.entries[2].target += 'p';
  const Status long_target = check_manifest(manifest, data_bytes);
  ASSERT_FALSE(long_target.has_value());
  EXPECT_NE(long_target.error().message.find("1 and 65536 bytes; expected at most 65535"),
            std::string::npos);
}

TEST(Manifest, broken_bytes_are_named) {
  const auto changed = [](std::size_t at, std::vector<int> put) {
    Bytes bytes = to_bytes(usual());
    for (std::size_t i = 0; i < put.size(); ++i)
      bytes[at + i] = static_cast<std::byte>(put[i]);
    fix_checksum(bytes);
    return error_of(bytes);
  };
  EXPECT_EQ(changed(0, {'k'}), "manifest does not begin with calpe-m1");
  EXPECT_NE(changed(8, {255, 255, 255, 255}).find("manifest has 4294967295 entries in "),
            std::string::npos);
  EXPECT_NE(changed(8, {7}).find(" bytes after its 7 entries"), std::string::npos);
  EXPECT_NE(changed(8, {9}).find("manifest entry 8: 0 bytes left; expected at least 48"),
            std::string::npos);
  EXPECT_EQ(changed(12, {4}), "manifest entry 0: type is 4; expected 0 to 3");
  for (const std::size_t zero : {13U, 18U, 19U, 56U, 57U, 58U, 59U}) {
    EXPECT_EQ(changed(zero, {1}), "manifest entry 0: an unused field is not 0");
  }
  EXPECT_NE(changed(52, {255, 255, 255, 255}).find("entry 0: 4294967295 extents in "),
            std::string::npos);
  EXPECT_NE(changed(14, {255, 255}).find("entry 0: path and target have 65535 + 0 bytes"),
            std::string::npos);
  Bytes bytes = to_bytes(usual());
  bytes[100] ^= std::byte{1};
  EXPECT_EQ(error_of(bytes), "manifest does not match its checksum");
  EXPECT_EQ(error_of(Bytes(19)), "manifest has 19 bytes; expected at least 20");
  EXPECT_EQ(error_of({}), "manifest has 0 bytes; expected at least 20");
}

TEST(Manifest, messages_hold_no_control_characters) {
  EXPECT_EQ(shown_path("a\x1b[2J\x7f\n"), "a\\x1b[2J\\x7f\\x0a");
  EXPECT_EQ(shown_path(std::string(1001, 'p')), std::string(1000, 'p') + "...");
}

// Flips bits, truncates and splices, then fixes the checksum.
TEST(Manifest, damaged_ones_are_refused_or_keep_all_rules) {
  std::mt19937_64 random(20'261'115);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  const Bytes good = to_bytes(usual());
  std::size_t accepted = 0;
  std::set<std::string> rules;
  for (int run = 0; run < 20'000; ++run) {
    Bytes bytes = good;
    for (std::size_t damage = 1 + below(3); damage > 0; --damage) {
      const std::size_t at = below(bytes.size());
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      switch (below(5)) {
        case 0:
          bytes[at] ^= static_cast<std::byte>(1U << below(8));
          break;
        case 1:
          bytes[at] = static_cast<std::byte>(random());
          break;
        case 2:
          bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(
                                         below(std::min<std::size_t>(60, bytes.size() - at))));
          break;
        case 3: {
          const std::size_t from = below(good.size());
          const std::size_t count = below(std::min<std::size_t>(60, good.size() - from));
          bytes.insert(begin, good.data() + from, good.data() + from + count);
          break;
        }
        default: {
          const std::size_t count = below(std::min<std::size_t>(
              30, std::min(good.size(), bytes.size()) - std::min(at, good.size() - 1)));
          std::memcpy(&bytes[at], &good[below(good.size() - count)],
                      std::min(count, bytes.size() - at));
        }
      }
      if (bytes.size() < 30) break;
    }
    fix_checksum(bytes);
    const auto parsed = parse_manifest(bytes, data_bytes);
    if (parsed) {
      ++accepted;
      ASSERT_TRUE(keeps_rules(*parsed, data_bytes)) << "run " << run;
      ASSERT_EQ(to_bytes(*parsed), bytes) << "run " << run;  // the encoding is unique
    } else {
      ASSERT_EQ(parsed.error().code, ErrorCode::corrupt);
      std::string rule = parsed.error().message.substr(parsed.error().message.rfind(": ") + 1);
      std::erase_if(rule, [](char letter) { return letter >= '0' && letter <= '9'; });
      rules.insert(rule);
    }
  }
  EXPECT_GT(accepted, 500U);  // changed modes, names, times: the parser was reached
  EXPECT_GT(rules.size(), 15U);
}

// Searches for each directory instead of scanning all previous entries.
TEST(Manifest, many_entries_are_checked_fast) {
  Manifest manifest;
  for (int i = 0; i < 100'000; ++i) {
    manifest.entries.push_back(folder("d" + std::to_string(i)));
    manifest.entries.push_back(file("d" + std::to_string(i) + "/f", 0, {}));
  }
  const auto parsed = parse_manifest(to_bytes(manifest), 0);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->entries.size(), 200'000U);
}

}  // namespace
}  // namespace calpe::store
