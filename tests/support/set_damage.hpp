// SPDX-License-Identifier: Apache-2.0
// All kinds of damage to a shard file, and a reader of the result.
#pragma once
#include <array>
#include <gtest/gtest.h>
#include <string>

#include "base/text.hpp"
#include "store/read/set_reader.hpp"
#include "support/made_set.hpp"

namespace calpe::tests {

enum class Damage : std::uint8_t {
  lost,
  emptied,
  truncated,
  shifted,   // bytes inserted at the front
  beheaded,  // bytes removed at the front
  widened,   // bytes inserted somewhere
  narrowed,  // bytes removed somewhere
  appended,
  block_bit,
  checksum_bit,
  front_bit,  // of the header
  back_bit,
  any_bits,
  overwritten,       // with noise, from a random position
  zeroed,            // partly
  of_another_shard,  // completely
  half_of_another_shard,
  stale,       // an older generation
  half_stale,  // second half of an older generation
};
inline constexpr std::size_t damage_kinds = static_cast<std::size_t>(Damage::half_stale) + 1;

inline void flip_bit(Bytes& file, std::size_t at, std::uint64_t bit) {
  file.at(at) ^= static_cast<std::byte>(1U << (bit % 8));
}

// Damages the file of shard `index`. `older` is another generation of the same set.
inline void damage(MemoryFiles& files, const MadeSet& set, const MadeSet& older, std::size_t index,
                   Damage kind, conformance::Random& random) {
  const std::string path = set.path(index);
  const Bytes& whole = set.images()[index];
  const auto some = [&](std::size_t most) { return 1 + random.below(most); };
  const auto at = [](std::size_t offset) { return static_cast<std::ptrdiff_t>(offset); };
  const std::uint64_t stripe = random.below(set.shape().stripes);
  const std::size_t other = (index + some(set.shard_count() - 1)) % set.shard_count();
  Bytes file = whole;
  switch (kind) {
    case Damage::lost: {
      const auto removed = files.remove(path);
      if (!removed) std::abort();
      return;
    }
    case Damage::emptied:
      file.clear();
      break;
    case Damage::truncated:
      file.resize(random.below(file.size()));
      break;
    case Damage::shifted:
      file.insert(file.begin(), some(9000), std::byte{7});
      break;
    case Damage::beheaded:
      file.erase(file.begin(), file.begin() + at(some(9000)));
      break;
    case Damage::widened:
      file.insert(file.begin() + at(random.below(file.size())), some(5000), std::byte{0});
      break;
    case Damage::narrowed: {
      const std::size_t begin = random.below(file.size());
      const std::size_t end = std::min(file.size(), begin + some(5000));
      file.erase(file.begin() + at(begin), file.begin() + at(end));
      break;
    }
    case Damage::appended:
      file.resize(file.size() + some(9000), std::byte{5});
      break;
    case Damage::block_bit:
      flip_bit(file, set.block_at(stripe) + random.below(set.shape().block_bytes), random.below(8));
      break;
    case Damage::checksum_bit:
      flip_bit(file, set.checksum_at(stripe) + random.below(8), random.below(8));
      break;
    case Damage::front_bit:
      flip_bit(file, random.below(4096), random.below(8));
      break;
    case Damage::back_bit:
      flip_bit(file, file.size() - 1 - random.below(4096), random.below(8));
      break;
    case Damage::any_bits:
      for (std::size_t i = some(20); i > 0; --i) {
        flip_bit(file, random.below(file.size()), random.below(8));
      }
      break;
    case Damage::overwritten:
      random.fill(std::span(file).subspan(random.below(file.size())));
      break;
    case Damage::zeroed: {
      const std::size_t begin = random.below(file.size());
      std::fill_n(file.begin() + at(begin), std::min<std::size_t>(some(9000), file.size() - begin),
                  std::byte{0});
      break;
    }
    case Damage::of_another_shard:
      file = set.images()[other];
      break;
    case Damage::half_of_another_shard:
      std::copy_n(set.images()[other].begin(), at(random.below(file.size())), file.begin());
      break;
    case Damage::stale:
      file = older.images()[index];
      break;
    case Damage::half_stale: {
      const std::size_t begin = random.below(file.size());
      std::copy(older.images()[index].begin() + at(begin), older.images()[index].end(),
                file.begin() + at(begin));
      break;
    }
  }
  files.put(path, std::move(file));
}

inline Result<store::FoundSet> find_one(store::FileSystem& files,
                                        const std::string& path = "disk") {
  const auto findings = store::find_sets(files, {path});
  if (!findings) return findings.error();
  return store::choose_set(*findings);
}

// Reads the whole content, in one read or in pieces.
inline Result<Bytes> read_content(store::FileSystem& files,
                                  std::size_t piece_bytes = ~std::size_t{0}, unsigned jobs = 1) {
  const auto set = find_one(files);
  if (!set) return set.error();
  auto reader = store::SetReader::open(files, *set, jobs);
  if (!reader) return reader.error();
  Bytes content(reader->header().content_bytes);
  for (std::size_t offset = 0; offset < content.size();) {
    const std::size_t bytes = std::min(piece_bytes, content.size() - offset);
    const Status read = reader->read(std::span(content).subspan(offset, bytes), offset);
    if (!read) return read.error();
    offset += bytes;
  }
  return content;
}

inline void expect_content(MemoryFiles& files, const MadeSet& made) {
  const auto read = read_content(files);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(*read == made.content());
}

// Every pair of damages on two shards of 3+2, each in a new set: check(files, made, kind, kind).
template <class Check>
void for_each_two_damages(const Check& check) {
  const MadeSet made({.generation = 2});
  const MadeSet older({.generation = 1, .seed = 9});
  conformance::Random random(1);
  for (std::size_t one = 0; one < damage_kinds; ++one) {
    for (std::size_t two = 0; two < damage_kinds; ++two) {
      MemoryFiles files;
      made.put(files);
      const std::size_t first = random.below(5);
      const std::size_t second = (first + 1 + random.below(4)) % 5;
      damage(files, made, older, first, static_cast<Damage>(one), random);
      damage(files, made, older, second, static_cast<Damage>(two), random);
      SCOPED_TRACE(text("damage ", one, " of shard ", first, ", ", two, " of ", second));
      check(files, made, static_cast<Damage>(one), static_cast<Damage>(two));
    }
  }
}

}  // namespace calpe::tests
