// SPDX-License-Identifier: Apache-2.0
// Kinds of damage to shard files, as disks, networks and users cause them.
#pragma once
#include <string_view>

#include "files/damaged_set.hpp"

namespace calpe::tests {

enum class Damage : std::uint8_t {
  lost,
  truncated,
  swapped_files,
  swapped_blocks,
  stale,
  bit_flipped,
  shifted,
  appended,
  zeroed,
  header_zeroed,
  renamed,
  emptied,
  stale_blocks,
};
inline constexpr std::size_t damage_count = 13;

constexpr std::string_view damage_names[damage_count] = {
    "lost",     "truncated", "swapped_files", "swapped_blocks", "stale",   "bit_flipped", "shifted",
    "appended", "zeroed",    "header_zeroed", "renamed",        "emptied", "stale_blocks"};

struct Damager {
  const Original& original;
  const Original& old;  // an older generation
  Chance& chance;
  Files& files;

  std::string any_path() {
    auto found = files.begin();
    std::advance(found, static_cast<std::ptrdiff_t>(chance.between(0, files.size() - 1)));
    return found->first;
  }

  std::ptrdiff_t any_place(const Bytes& bytes) {
    return static_cast<std::ptrdiff_t>(chance.between(0, bytes.size() - 1));
  }

  void zero_range(Bytes& bytes) {
    const std::ptrdiff_t from = any_place(bytes);
    const std::size_t most = bytes.size() - static_cast<std::size_t>(from);
    std::fill_n(bytes.begin() + from, chance.between(1, std::min<std::size_t>(most, 3000)),
                std::byte{0});
  }

  // Copies a block with its checksum to another position.
  void copy_block(const Bytes& from, std::uint64_t source, Bytes& to, std::uint64_t target) const {
    const store::Geometry geometry = store::geometry_of(original.header);
    const auto copy = [&](std::uint64_t at_from, std::uint64_t at_to, std::size_t count) {
      if (at_from + count > from.size() || at_to + count > to.size()) return;
      const Bytes piece(from.begin() + static_cast<std::ptrdiff_t>(at_from),
                        from.begin() + static_cast<std::ptrdiff_t>(at_from + count));
      std::copy(piece.begin(), piece.end(), to.begin() + static_cast<std::ptrdiff_t>(at_to));
    };
    copy(geometry.block_offset(source), geometry.block_offset(target), original.header.block_bytes);
    copy(geometry.checksum_offset(source), geometry.checksum_offset(target), 8);
  }

  std::uint64_t any_stripe() { return chance.between(0, original.header.stripe_count - 1); }

  // Puts blocks of the older generation in their places, as after a lost write.
  void make_blocks_stale(Bytes& bytes) {
    for (std::size_t i = 0; i < old.shards.size(); ++i) {
      const bool is_shard = bytes.size() >= store::header_bytes &&
                            std::equal(bytes.begin(), bytes.begin() + store::header_bytes,
                                       original.shards[i].begin());
      const std::uint64_t stripe = any_stripe();
      if (is_shard) copy_block(old.shards[i], stripe, bytes, stripe);
    }
  }

  void shift(Bytes& bytes) {
    const std::ptrdiff_t from = any_place(bytes);
    const std::size_t count = chance.between(1, 200);
    if (chance.one_in(2)) {
      bytes.insert(bytes.begin() + from, count, std::byte{0x5A});
    } else {
      const auto end = std::min(bytes.size(), static_cast<std::size_t>(from) + count);
      bytes.erase(bytes.begin() + from, bytes.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }

  void zero_headers(Bytes& bytes) {
    const std::size_t which = chance.between(1, 3);
    const std::size_t count = std::min(bytes.size(), store::header_bytes);
    const auto length = static_cast<std::ptrdiff_t>(count);
    if ((which & 1U) != 0) std::fill(bytes.begin(), bytes.begin() + length, std::byte{0});
    if ((which & 2U) != 0) std::fill(bytes.end() - length, bytes.end(), std::byte{0});
  }

  // Returns false when nothing is left to damage.
  bool apply(Damage damage) {
    if (files.empty()) return false;
    const std::string path = any_path();
    Bytes& bytes = files.at(path);
    const bool needs_bytes = damage != Damage::lost && damage != Damage::appended &&
                             damage != Damage::swapped_files && damage != Damage::renamed;
    if (needs_bytes && bytes.empty()) return false;
    switch (damage) {
      case Damage::lost:
        files.erase(path);
        break;
      case Damage::truncated:
        bytes.resize(chance.between(0, bytes.size() - 1));
        break;
      case Damage::swapped_files:
        std::swap(bytes, files.at(any_path()));
        break;
      case Damage::swapped_blocks:
        copy_block(files.at(any_path()), any_stripe(), bytes, any_stripe());
        break;
      case Damage::stale:
        bytes = old.shards[chance.between(0, old.shards.size() - 1)];
        break;
      case Damage::bit_flipped:
        bytes[static_cast<std::size_t>(any_place(bytes))] ^=
            static_cast<std::byte>(1U << chance.between(0, 7));
        break;
      case Damage::shifted:
        shift(bytes);
        break;
      case Damage::appended: {
        const Bytes more = chance.bytes(chance.between(1, 5000));
        bytes.insert(bytes.end(), more.begin(), more.end());
        break;
      }
      case Damage::zeroed:
        zero_range(bytes);
        break;
      case Damage::header_zeroed:
        zero_headers(bytes);
        break;
      case Damage::renamed: {
        Bytes kept = std::move(bytes);
        files.erase(path);
        files["two/holiday" + std::to_string(chance.between(0, 99)) + ".jpg"] = std::move(kept);
        break;
      }
      case Damage::emptied:
        bytes.clear();
        break;
      case Damage::stale_blocks:
        make_blocks_stale(bytes);
        break;
    }
    return true;
  }
};

}  // namespace calpe::tests
