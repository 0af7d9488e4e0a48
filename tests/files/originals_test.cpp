// SPDX-License-Identifier: Apache-2.0
// Applies random damage to files and their parity files. Reading gives the protected bytes or an
// error. Repair restores everything byte for byte or touches nothing. 3,000 damages, 100,000 with
// CALPE_NIGHTLY=1.
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <set>

#include "files/damaged_set.hpp"
#include "store/read/set_reader.hpp"
#include "store/read/verify_set.hpp"
#include "store/repair/repair_set.hpp"
#include "store/tree/in_place_source.hpp"
#include "support/random_choice.hpp"
#include "support/sample_tree.hpp"

namespace calpe::tests {

namespace {

namespace fs = std::filesystem;

// Contents of a directory: bytes of files, targets of links, "/" for directories.
std::map<std::string, std::string> state_of(const std::string& top) {
  std::map<std::string, std::string> state;
  for (const auto& entry : fs::recursive_directory_iterator(top)) {
    std::string& seen = state[entry.path().string().substr(top.size() + 1)];
    if (entry.is_symlink()) {
      seen = "-> " + fs::read_symlink(entry.path()).string();
    } else {
      seen = entry.is_directory() ? "/" : "=" + read_bytes(entry.path().string());
    }
  }
  return state;
}

struct Folder {
  Folder() : path(quick_folder() + "/calpe-test-XXXXXX") {
    require(mkdtemp(path.data()) != nullptr, "a temporary directory");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path;
};

struct Shape {
  std::uint16_t data_shards;
  std::uint16_t parity_shards;
  std::uint32_t block_bytes;
};
constexpr std::array shapes = {Shape{4, 2, 64},  Shape{1, 1, 64},   Shape{10, 4, 64},
                               Shape{3, 3, 128}, Shape{5, 2, 4096}, Shape{2, 1, 64}};

constexpr const char* damage_names[] = {"lost",    "truncated", "flipped", "grown",
                                        "swapped", "zeroed",    "link",    "shifted"};
constexpr std::size_t damage_kinds = std::size(damage_names);

class Originals {
 public:
  Originals(std::string folder, const Shape& shape, Chance& chance)
      : folder_(std::move(folder)), shape_(shape), chance_(chance) {
    fs::create_directories(tree() + "/sub/deeper");
    const std::size_t count = chance.between(1, 12);
    for (std::size_t i = 0; i < count; ++i) {
      const Bytes bytes = chance.bytes(chance.one_in(8) ? 0 : chance.between(1, 3000));
      const std::string path =
          tree() + (chance.one_in(2) ? "/" : "/sub/deeper/") + "file" + std::to_string(i);
      write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      set_time(path, 1000 + static_cast<std::int64_t>(i), 5);
    }
    fs::create_symlink("sub", tree() + "/link");
    if (chance.one_in(3)) write_sparse(tree() + "/sparse", 200'000, {{65'536, 900}});
    write_file(folder_ + "/outside", std::string(3000, 'o'));
    const auto source = must(store::OriginalSource::open(tree()));
    store::ProtectOptions options;
    options.spec.data_shards = shape.data_shards;
    options.spec.parity_shards = shape.parity_shards;
    options.block_bytes = shape.block_bytes;
    options.targets = {folder_};
    options.name = "tree";
    header_ = must(store::protect_originals(store::posix_files(), *source, options)).header;
    manifest_ = source->manifest();  // with digests now
    whole_ = state_of(folder_);
    content_ = content();
  }

  // Restores the original state.
  void reset() const {
    for (const auto& [path, now] : state_of(folder_)) {
      const auto before = whole_.find(path);
      if (before == whole_.end() || before->second != now) fs::remove_all(folder_ + "/" + path);
    }
    for (const auto& [path, seen] : whole_) {
      const std::string full = folder_ + "/" + path;
      if (seen == "/") fs::create_directories(full);
      if (fs::exists(fs::symlink_status(full))) continue;
      if (seen.starts_with("->")) fs::create_symlink(seen.substr(3), full);
      if (seen.starts_with("=")) write_file(full, seen.substr(1));
    }
    for (const store::Entry& entry : manifest_.entries) {
      set_time(tree() + "/" + entry.path, entry.seconds, entry.nanoseconds);
    }
  }

  // Damages one file of the tree or one parity file.
  void damage(std::size_t kind) {
    const auto [path, other] = two_files();
    if (path.empty()) return;
    std::string bytes = read_bytes(path);
    const std::size_t at = bytes.empty() ? 0 : chance_.between(0, bytes.size() - 1);
    switch (kind) {
      case 0:
        fs::remove(path);
        return;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << chance_.between(0, 7)));
        break;
      case 3:
        bytes += std::string(chance_.between(1, 300), 'g');
        break;
      case 4:
        if (path == other) return;
        fs::rename(path, folder_ + "/swap");
        fs::rename(other, path);
        fs::rename(folder_ + "/swap", other);
        return;
      case 5:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    std::min<std::size_t>(bytes.size() - at, 700), '\0');
        break;
      case 6:
        fs::remove(path);
        fs::create_symlink(folder_ + "/outside", path);
        return;
      default:
        bytes.insert(at, std::string(chance_.between(1, 90), 's'));
    }
    struct stat about = {};
    require(::stat(path.c_str(), &about) == 0, "a damaged file exists");
    write_file(path, bytes);
    if (chance_.one_in(2)) set_time(path, about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
  }

  void check(std::map<std::string, std::size_t>& counts) {
    const auto before = state_of(folder_);
    const auto findings = must(store::find_sets(store::posix_files(), {folder_}));
    const std::size_t touched = touched_parity();
    auto set = store::choose_set(findings);
    if (!set) {
      require(touched == shape_.parity_shards, "a set with a complete parity file is found");
      ++counts["unseen"];
      return;
    }
    set->original = tree();
    const bool must_work =
        touched < shape_.parity_shards && most_bad() + touched <= shape_.parity_shards;

    const auto report = must(store::verify_set(store::posix_files(), *set, true));
    require(report.is_good() == is_whole(before), "damage is reported, and nothing else");
    require(!must_work || report.is_repairable(), "repairable damage is reported as such");
    require(state_of(folder_) == before, "verify writes nothing");
    check_read(*set, must_work);

    const auto repaired = store::repair_set(store::posix_files(), *set, {.overwrite = true});
    if (!repaired) {
      require(!report.is_repairable(), "repair fails only if verify predicts it");
      require(repaired.error().code == ErrorCode::unrecoverable, repaired.error().message);
      require(state_of(folder_) == before, "a failed repair changes nothing");
      ++counts["lost"];
      return;
    }
    require(report.is_repairable(), "repair succeeds only if verify predicts it");
    const auto after = state_of(folder_);
    for (const auto& [path, seen] : whole_) {
      const auto found = after.find(path);
      const bool is_parity = path.ends_with(".calpe");
      require(is_parity || (found != after.end() && found->second == seen),
              "not repaired: " + path);
      const bool is_somewhere =
          std::any_of(after.begin(), after.end(),
                      [&bytes = seen](const auto& one) { return one.second == bytes; });
      require(is_somewhere, "parity is not repaired: " + path);
    }
    ++counts["repaired"];
  }

  // Parity files may have swapped names.
  bool is_whole(std::map<std::string, std::string> now) const {
    std::multiset<std::string> parity;
    std::multiset<std::string> expected;
    for (const auto& [path, seen] : whole_) {
      if (!path.ends_with(".calpe")) continue;
      expected.insert(seen);
      parity.insert(now[path]);
      now[path] = seen;
    }
    return now == whole_ && parity == expected;
  }

 private:
  std::string tree() const { return folder_ + "/tree"; }

  std::pair<std::string, std::string> two_files() {
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      const bool is_one =
          entry.is_regular_file() && !entry.is_symlink() && entry.path().filename() != "outside";
      if (is_one) files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) return {};
    const std::size_t last = files.size() - 1;
    const std::string first = files[chance_.between(0, last)];
    const std::string second = files[chance_.between(0, last)];
    return {first, second};
  }

  // Computed from the format, without the store.
  std::string content() const {
    std::string all(header_.stripe_count * header_.spec.data_shards * header_.block_bytes, '\0');
    for (const store::Entry& entry : manifest_.entries) {
      const std::string path = tree() + "/" + entry.path;
      if (entry.extents.empty() || !fs::is_regular_file(fs::symlink_status(path))) continue;
      const std::string bytes = read_bytes(path);
      for (const store::Extent& extent : entry.extents) {
        if (extent.file_offset >= bytes.size()) continue;
        const std::string part = bytes.substr(extent.file_offset, extent.bytes);
        all.replace(extent.content_offset, part.size(), part);
      }
    }
    return all;
  }

  // Maximum number of bad data blocks in a stripe.
  std::size_t most_bad() const {
    const std::string now = content();
    std::size_t most = 0;
    for (std::uint64_t stripe = 0; stripe < header_.stripe_count; ++stripe) {
      std::size_t bad = 0;
      for (std::uint64_t i = 0; i < header_.spec.data_shards; ++i) {
        const std::size_t at = (i * header_.stripe_count + stripe) * header_.block_bytes;
        bad += now.compare(at, header_.block_bytes, content_, at, header_.block_bytes) != 0;
      }
      most = std::max(most, bad);
    }
    return most;
  }

  // Number of parity shards without an intact file.
  std::size_t touched_parity() const {
    std::size_t touched = 0;
    const auto now = state_of(folder_);
    for (const auto& [path, seen] : whole_) {
      if (!path.ends_with(".calpe")) continue;
      // Parity files inside the tree are not found.
      const bool is_there = std::any_of(now.begin(), now.end(), [&bytes = seen](const auto& one) {
        return one.second == bytes && !one.first.starts_with("tree/");
      });
      touched += is_there ? 0 : 1;
    }
    return touched;
  }

  void check_read(const store::FoundSet& set, bool must_work) const {
    auto reader = must(store::SetReader::open(store::posix_files(), set));
    const auto manifest = reader.manifest();
    require(!must_work || manifest.has_value(), "the manifest is readable");
    if (!manifest) return;
    require(*manifest == manifest_, "the manifest is the original");
    for (const store::Entry& entry : manifest->entries) {
      for (const store::Extent& extent : entry.extents) {
        Bytes bytes(extent.bytes);
        const Status read = reader.read(bytes, extent.content_offset);
        require(!must_work || read.has_value(), "readable data is read");
        const bool is_right =
            std::memcmp(bytes.data(), content_.data() + extent.content_offset, bytes.size()) == 0;
        require(!read || is_right, "wrong bytes");
      }
    }
  }

  std::string folder_;
  Shape shape_;
  Chance& chance_;
  store::Manifest manifest_;
  store::ShardHeader header_;
  std::map<std::string, std::string> whole_;
  std::string content_;
};

TEST(OriginalsDamage, RightBytesOrAnError) {
  const std::size_t least = std::getenv("CALPE_NIGHTLY") != nullptr ? 100'000 : 3'000;
  const std::uint64_t seed = conformance::Random::of_test("OriginalsDamage").below(1U << 30U);
  Chance chance(seed);
  std::map<std::string, std::size_t> counts;
  std::size_t damages = 0;
  for (std::size_t round = 0; damages < least; ++round) {
    const Folder folder;
    Originals originals(folder.path, shapes[round % shapes.size()], chance);
    for (int trial = 0; trial < 15; ++trial) {
      originals.reset();
      const std::size_t count = chance.between(0, chance.one_in(4) ? 8 : 3);
      std::string what = "seed " + std::to_string(seed) + ":";
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t kind = chance.between(0, damage_kinds - 1);
        what += std::string(" ") + damage_names[kind];
        originals.damage(kind);
      }
      damages += count;
      SCOPED_TRACE(what);
      try {
        originals.check(counts);
      } catch (const std::exception& error) {
        FAIL() << error.what() << "; " << what << "; " << conformance::repeat_with();
      }
    }
  }
  std::cout << damages << " damages: " << counts["repaired"] << " repaired, " << counts["lost"]
            << " lost and untouched, " << counts["unseen"] << " without a header, 0 wrong\n";
  EXPECT_GT(counts["repaired"], counts["lost"]);
  EXPECT_GT(counts["lost"], 0U);
}

}  // namespace

}  // namespace calpe::tests
