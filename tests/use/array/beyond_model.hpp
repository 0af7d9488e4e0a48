// SPDX-License-Identifier: Apache-2.0
// A model of an array with more faults than it can survive. For each block it has the contents that
// were written, oldest first, and for each of them whether and by which batch of the log it was
// acknowledged. An independent reader of the format finds which batches are witnessed: a live
// member has the header of a later batch, or a superblock of a later generation. A witnessed
// content or a newer one is right; anything older is wrong.
#pragma once
#include <optional>

#include "array/log_on_disk.hpp"

namespace calpe::tests {

// The tag identifies a block; 0 = zeros.
inline void fill_block(std::uint64_t tag, std::span<std::byte> block) {
  for (std::size_t at = 0; at < block.size(); at += sizeof tag) {
    const std::uint64_t word = tag == 0 ? 0 : tag + at * 0x9E3779B97F4A7C15U;
    std::memcpy(block.data() + at, &word, sizeof word);
  }
}
inline std::optional<std::uint64_t> tag_of(std::span<const std::byte> block) {
  std::uint64_t tag = 0;
  std::memcpy(&tag, block.data(), sizeof tag);
  std::array<std::byte, 4096> expected;
  fill_block(tag, expected);
  if (std::memcmp(expected.data(), block.data(), block.size()) != 0) return std::nullopt;
  return tag;
}

// Evidence on the disks.
struct Witness {
  std::uint64_t epoch = 0;       // of the newest superblock
  std::uint64_t generation = 0;  // of the newest superblock
  BatchPosition latest = {};     // newest header in the log of a live member
  bool proves(const BatchPosition& batch) const {
    return batch.generation < generation || batch < latest;
  }
};

inline Witness witness_of(const SimulatedMembers& members, const Uuid& array,
                          std::uint64_t log_bytes, unsigned roles) {
  std::vector<std::optional<SuperblockOnDisk>> all;
  std::optional<SuperblockOnDisk> newest;
  for (unsigned place = 0; place < members.count(); ++place) {
    all.push_back(superblock_of(members[place]));
    if (all.back() && (!newest || all.back()->epoch() > newest->epoch())) newest = all.back();
  }
  Witness witness;
  if (!newest) return witness;
  witness.epoch = newest->epoch();
  witness.generation = newest->at<std::uint64_t>(48);
  const auto previous = newest->at<std::uint64_t>(40);
  for (unsigned place = 0; place < members.count(); ++place) {
    if (!all[place] || all[place]->epoch() < previous) continue;
    for (unsigned role = 0; role < roles; ++role) {
      if (newest->is_out(role) || newest->uuid_of_role(role) != all[place]->member()) continue;
      for (const HeaderOnDisk& header : headers_of(members[place], array, log_bytes)) {
        if ((header.roles >> role & 1U) == 0) continue;
        witness.latest = std::max(witness.latest, header.position);
      }
    }
  }
  return witness;
}

class BeyondModel {
 public:
  explicit BeyondModel(std::uint64_t blocks) : blocks_(blocks) {}
  std::uint64_t blocks() const { return blocks_.size(); }

  // The write was submitted; its bytes may be there from now on.
  void write(std::uint64_t block, std::uint64_t tag) {
    blocks_[block].versions.push_back({.tag = tag});
  }
  void written(std::uint64_t block, bool is_done) { blocks_[block].is_exact = is_done; }
  void acknowledged(std::uint64_t first, std::uint64_t count, const BatchPosition& by) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      Version& newest = blocks_[i].versions.back();
      if (blocks_[i].is_exact && !newest.acknowledged) newest.acknowledged = by;
    }
  }

  // While the array is open, all acknowledged contents are valid; without a failed call, only the
  // newest. Returns "" or the difference.
  std::string judge_in_use(std::uint64_t block, std::span<const std::byte> read) const {
    const Block& of = blocks_[block];
    const Version* found = find(
        of, newest_of(of, [](const Version& one) { return one.acknowledged.has_value(); }), read);
    if (found != nullptr && (!of.is_exact || found->tag == of.versions.back().tag)) return {};
    return describe(block, read);
  }

  // Checks a block after opening. `read` is nullopt if reading it failed.
  std::string judge_opened(std::uint64_t block, std::optional<std::span<const std::byte>> read,
                           const Witness& witness) {
    Block& of = blocks_[block];
    const std::size_t floor = newest_of(of, [&](const Version& one) {
      return one.acknowledged && witness.proves(*one.acknowledged);
    });
    if (!read) {
      // From here on any of them is valid; contents without proof may have been dropped.
      of.versions.erase(of.versions.begin(),
                        of.versions.begin() + static_cast<std::ptrdiff_t>(floor));
      for (Version& one : of.versions) {
        one.acknowledged.reset();
      }
      of.versions.front().acknowledged = BatchPosition{};
      of.is_exact = of.versions.size() == 1;
      return {};
    }
    const Version* found = find(of, floor, *read);
    if (found == nullptr) return describe(block, *read) + text("; floor ", floor);
    const std::uint64_t tag = found->tag;
    of.versions = {{.tag = tag, .acknowledged = BatchPosition{}}};
    of.is_exact = true;
    return {};
  }
  // An interrupted recovery may have dropped contents without proof.
  void doubt(const Witness& witness) {
    for (Block& of : blocks_) {
      for (Version& one : of.versions) {
        if (one.acknowledged && !witness.proves(*one.acknowledged)) one.acknowledged.reset();
      }
    }
  }
  // All acknowledged contents, witnessed or not.
  bool has_acknowledged(std::uint64_t block, std::span<const std::byte> read) const {
    const Block& of = blocks_[block];
    return find(of, newest_of(of, [](const Version& one) { return one.acknowledged.has_value(); }),
                read) != nullptr;
  }

 private:
  struct Version {
    std::uint64_t tag = 0;
    std::optional<BatchPosition> acknowledged = {};
  };
  struct Block {
    std::vector<Version> versions = {{.tag = 0, .acknowledged = BatchPosition{}}};
    bool is_exact = true;  // it has the newest version
  };
  template <class Is>
  static std::size_t newest_of(const Block& of, const Is& is) {
    for (std::size_t i = of.versions.size(); i-- > 0;) {
      if (is(of.versions[i])) return i;
    }
    return 0;
  }
  static const Version* find(const Block& of, std::size_t floor, std::span<const std::byte> read) {
    const auto tag = tag_of(read);
    for (std::size_t i = of.versions.size(); tag && i-- > floor;) {
      if (of.versions[i].tag == *tag) return &of.versions[i];
    }
    return nullptr;
  }
  std::string describe(std::uint64_t block, std::span<const std::byte> read) const {
    std::string message = text("block ", block, " reads as ");
    const auto tag = tag_of(read);
    message += tag ? text("content ", *tag) : std::string("nothing that was written");
    message += "; expected one of";
    for (const Version& one : blocks_[block].versions) {
      message += text(" ", one.tag);
      if (one.acknowledged) {
        message += text("(", one.acknowledged->generation, ".", one.acknowledged->sequence, ")");
      }
    }
    return message;
  }

  std::vector<Block> blocks_;
};

}  // namespace calpe::tests
