// SPDX-License-Identifier: Apache-2.0
#include "store/read/in_place_check.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <unistd.h>

#include "base/all_zero.hpp"
#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/read/stripe_loader.hpp"
#include "store/read/survey.hpp"

namespace calpe::store {

namespace {

constexpr std::uint64_t memory_bytes = 1U << 22U;

// State of an entry on disk.
struct Looked {
  bool is_missing = false;
  bool is_other = false;  // not a file or link, or not accessible
  bool is_time_other = false;
  bool are_bytes_other = false;
  bool is_doubtful = false;  // its digest tells
  std::string problem = {};  // set for any of these except the last

  bool is_written() const { return is_missing || is_other || is_time_other; }
};

class OriginalCheck {
 public:
  OriginalCheck(const OpenSet& files, const StripeCoder& coder, OriginalPlace place)
      : files_(files),
        manifest_(files.originals()->manifest()),
        loader_(files, coder, 1),
        place_(std::move(place)),
        looked_(manifest_.entries.size()) {}

  Result<std::vector<OriginalState>> run(const Survey& survey) {
    for (std::size_t i = 0; i < manifest_.entries.size(); ++i) {
      look_at(i, looked_[i]);
    }
    bad_ = &survey.bad_originals;
    for (const StripeRun& range : survey.bad_data.runs()) {
      const std::uint64_t end = std::min(range.end(), files_.reachable_stripes());
      for (std::uint64_t stripe = range.first_stripe; stripe < end;) {
        const std::uint64_t next = std::min(files_.next_stripe(stripe), end);
        if (next > stripe) {
          blame_all({stripe, next - stripe});
          stripe = next;
          continue;
        }
        const std::uint64_t each = memory_bytes / files_.header().spec.data_shards;
        const StripeRun part = files_.run_from(stripe, end, each);
        CALPE_CHECK(compare_needed(part));
        stripe = part.end();
      }
    }
    check_doubtful();
    std::vector<OriginalState> states;
    for (std::size_t i = 0; i < looked_.size(); ++i) {
      if (const Looked& looked = looked_[i]; is_bad(looked)) states.push_back(state_of(i, looked));
    }
    return states;
  }

 private:
  static bool is_bad(const Looked& looked) {
    return looked.is_missing || looked.is_other || looked.are_bytes_other;
  }

  OriginalState state_of(std::size_t entry, const Looked& looked) const {
    OriginalState state;
    state.entry = entry;
    state.path = place_.full_name(manifest_.entries[entry]);
    state.damage = OriginalDamage::damaged;
    if (looked.is_other || looked.is_time_other) state.damage = OriginalDamage::changed;
    if (looked.is_missing) state.damage = OriginalDamage::missing;
    state.problem = looked.problem;
    const bool is_changed = state.damage == OriginalDamage::changed && !looked.is_other;
    if (is_changed) {
      state.problem = text("changed since it was protected", looked.problem.empty() ? "" : ": ",
                           looked.problem);
    }
    if (state.problem.empty()) state.problem = "damaged";
    return state;
  }

  // "missing; b/c seems to have its bytes"
  std::string missing_text(std::size_t entry) const {
    const auto& names = files_.originals()->moved().names;
    const auto found = names.find(entry);
    if (found == names.end()) return "missing";
    return text("missing; ", shown_path(place_.full_path(found->second)),
                " seems to have its bytes");
  }

  void look_at(std::size_t number, Looked& looked) {
    const Entry& entry = manifest_.entries[number];
    struct stat about = {};
    const Result<bool> is_there = place_.look_at(entry, about);
    if (!is_there) return cannot_look(is_there.error(), looked);
    looked.is_missing = !*is_there;
    if (looked.is_missing) {
      looked.problem = missing_text(number);
      return;
    }
    looked.is_time_other = about.st_mtim.tv_sec != entry.seconds ||
                           static_cast<std::uint64_t>(about.st_mtim.tv_nsec) != entry.nanoseconds;
    const auto expect = [&](bool is_right, std::string_view what) {
      looked.is_other = !is_right;
      if (!is_right) looked.problem = text("no longer ", what);
      return is_right;
    };
    switch (entry.type) {
      case EntryType::folder:
        expect(S_ISDIR(about.st_mode), "a directory");
        return;
      case EntryType::link:
        if (expect(S_ISLNK(about.st_mode), "a link")) look_at_link(entry, looked);
        return;
      case EntryType::file:
      case EntryType::stream:
        if (expect(S_ISREG(about.st_mode), "a file")) look_at_file(entry, about, looked);
        return;
    }
  }

  static void cannot_look(const Error& error, Looked& looked) {
    looked.is_other = true;
    looked.problem = error.message;
  }

  void look_at_link(const Entry& entry, Looked& looked) {
    const Result<std::string> target = place_.link_target(entry);
    if (!target) return cannot_look(target.error(), looked);
    looked.are_bytes_other = *target != entry.target;
    if (looked.are_bytes_other) looked.problem = "it has another target";
  }

  void look_at_file(const Entry& entry, const struct stat& about, Looked& looked) {
    const auto bytes = static_cast<std::uint64_t>(about.st_size);
    if (bytes != entry.file_bytes) {
      looked.are_bytes_other = true;
      looked.problem = text("it has ", bytes, " bytes; expected ", entry.file_bytes);
      return;
    }
    // Parity does not cover holes, so they must read as zeros.
    std::uint64_t end = 0;
    for (const Extent& extent : entry.extents) {
      if (!is_hole_empty(entry, end, extent.file_offset)) return hole_is_filled(looked);
      end = extent.file_offset + extent.bytes;
    }
    if (!is_hole_empty(entry, end, entry.file_bytes)) hole_is_filled(looked);
  }

  static void hole_is_filled(Looked& looked) {
    looked.are_bytes_other = true;
    looked.problem = "it has data where there was a hole";
  }

  bool is_hole_empty(const Entry& entry, std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return true;
    const Result<Descriptor> file = place_.open_file(entry);
    if (!file || !*file) return false;
    std::vector<std::byte> bytes(std::min<std::uint64_t>(end - begin, 1U << 20U));
    while (begin < end) {
      const off_t data = ::lseek(file->get(), static_cast<off_t>(begin), SEEK_DATA);
      if (data >= 0) begin = static_cast<std::uint64_t>(data);
      if ((data < 0 && errno == ENXIO) || begin >= end) return true;
      const std::size_t wanted = std::min<std::uint64_t>(bytes.size(), end - begin);
      const ssize_t got = ::pread(file->get(), bytes.data(), wanted, static_cast<off_t>(begin));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      if (!is_all_zero(std::span(bytes).first(static_cast<std::size_t>(got)))) return false;
      begin += static_cast<std::uint64_t>(got);
    }
    return true;
  }

  bool is_bad_block(std::size_t shard, std::uint64_t stripe) const {
    const auto found = bad_->find(static_cast<ShardIndex>(shard));
    return found != bad_->end() && found->second.contains(stripe);
  }

  // False if the files of all bad blocks are known to be bad, such as missing ones.
  bool is_needed(std::uint64_t stripe) const {
    for (std::size_t i = 0; i < files_.header().spec.data_shards; ++i) {
      if (!is_bad_block(i, stripe)) continue;
      const auto pieces =
          content().pieces_in(content_offset(i, stripe), files_.header().block_bytes);
      const bool is_known =
          std::all_of(pieces.begin(), pieces.end(),
                      [&](const OriginalPiece& piece) { return is_bad(looked_[piece.entry]); });
      if (!is_known) return true;
    }
    return false;
  }

  Status compare_needed(const StripeRun& run) {
    StripeRanges needed;
    for (std::uint64_t stripe = run.first_stripe; stripe < run.end(); ++stripe) {
      if (is_needed(stripe)) needed.add(stripe);
    }
    for (const StripeRun& part : needed.runs()) {
      CALPE_CHECK(compare(part));
    }
    return Done{};
  }

  // Compares the files with the rebuilt data.
  Status compare(const StripeRun& run) {
    const std::size_t stripe_bytes = loader_.stripe_bytes();
    std::vector<std::byte> expected(run.stripe_count * stripe_bytes);
    StripeRanges lost;
    if (const Status loaded = loader_.load(run, expected, lost); !loaded) {
      if (loaded.error().code != ErrorCode::corrupt) return loaded.error();
      lost = {};
      lost.add_run(run);  // the right data is unknown
    }
    for (std::uint64_t stripe = run.first_stripe; stripe < run.end(); ++stripe) {
      const bool is_lost =
          std::any_of(lost.runs().begin(), lost.runs().end(), [&](const StripeRun& part) {
            return stripe >= part.first_stripe && stripe < part.end();
          });
      if (is_lost) {
        blame(stripe);
        continue;
      }
      const auto blocks = std::span(expected).subspan((stripe - run.first_stripe) * stripe_bytes);
      for (std::size_t i = 0; i < files_.header().spec.data_shards; ++i) {
        if (!is_bad_block(i, stripe)) continue;
        compare_block(i, stripe, blocks.subspan(i * files_.header().block_bytes));
      }
    }
    return Done{};
  }

  std::uint64_t content_offset(std::uint64_t shard, std::uint64_t stripe) const {
    return (shard * files_.header().stripe_count + stripe) * files_.header().block_bytes;
  }

  void compare_block(std::size_t shard, std::uint64_t stripe, std::span<const std::byte> expected) {
    const std::size_t block_bytes = files_.header().block_bytes;
    const std::uint64_t at = content_offset(shard, stripe);
    present_.resize(block_bytes);
    for (const OriginalPiece& piece : content().pieces_in(at, block_bytes)) {
      const std::uint64_t from = std::max(at, piece.content_offset);
      const std::uint64_t to = std::min(at + block_bytes, piece.end());
      const auto part = std::span(present_).first(to - from);
      const bool is_same =
          content().read(part, from) &&
          std::memcmp(part.data(), expected.data() + (from - at), part.size()) == 0;
      if (!is_same) looked_[piece.entry].are_bytes_other = true;
    }
  }

  // For stripes without checksums, where no block is good.
  void blame_all(const StripeRun& run) {
    const ShardHeader& header = files_.header();
    for (std::size_t i = 0; i < header.spec.data_shards; ++i) {
      const std::uint64_t at = content_offset(i, run.first_stripe);
      for (const OriginalPiece& piece :
           content().pieces_in(at, run.stripe_count * header.block_bytes)) {
        doubt(looked_[piece.entry]);
      }
    }
  }

  void doubt(Looked& looked) const {
    (manifest_.has_digests ? looked.is_doubtful : looked.are_bytes_other) = true;
  }

  // Reads the files that share blocks with others, where the right blocks are unknown.
  void check_doubtful() {
    for (std::size_t i = 0; i < looked_.size(); ++i) {
      Looked& looked = looked_[i];
      if (!looked.is_doubtful || is_bad(looked)) continue;
      looked.are_bytes_other = !files_.originals()->is_intact(i);
    }
  }

  void blame(std::uint64_t stripe) {
    const ShardHeader& header = files_.header();
    std::vector<std::byte> block(header.block_bytes);
    std::array<std::uint8_t, 1> good = {};
    for (std::size_t i = 0; i < header.spec.data_shards; ++i) {
      files_.read_any(i, {stripe, 1}, {block.data(), block.size(), good});
      if (good[0] != 0) continue;
      const std::uint64_t at = content_offset(i, stripe);
      const auto pieces = content().pieces_in(at, header.block_bytes);
      const bool is_any_written = std::any_of(
          pieces.begin(), pieces.end(),
          [&](const OriginalPiece& piece) { return looked_[piece.entry].is_written(); });
      for (const OriginalPiece& piece : pieces) {
        Looked& looked = looked_[piece.entry];
        if (manifest_.has_digests || !is_any_written || looked.is_written()) doubt(looked);
      }
    }
  }

  const OriginalContent& content() const { return files_.originals()->content(); }

  const OpenSet& files_;
  const Manifest& manifest_;
  StripeLoader loader_;
  OriginalPlace place_;
  std::vector<Looked> looked_;
  const std::map<ShardIndex, StripeRanges>* bad_ = nullptr;  // see Survey::bad_originals
  std::vector<std::byte> present_;
};

}  // namespace

Error original_damaged(const std::string& shown, bool is_same_size, DamageCure cure) {
  std::string_view advice = "run calpe repair first";
  if (cure == DamageCure::partial_repair) advice = "run calpe repair --partial first";
  if (cure == DamageCure::none) {
    advice =
        "too much of the same stripes has changed to repair it: put back a copy of it, or give it "
        "another time with touch to protect it as it is";
  }
  return make_error(
      ErrorCode::corrupt, shown, " is damaged: it has ",
      is_same_size ? "other bytes but the same size and time" : "another size but the same time",
      "; ", advice, "; nothing was changed");
}

Error renamed_damaged(const std::string& shown, const std::string& old_name) {
  return make_error(ErrorCode::corrupt, shown, " is damaged: it has the size and time of ",
                    old_name, ", which is gone, but other bytes; get it back with calpe restore ",
                    "--only, or, if it is another file, give it another time with touch; nothing ",
                    "was changed");
}

DamageCure cure_of(const ShardHeader& header, const Survey& survey, const Entry& entry) {
  if (survey.lost.is_empty()) return DamageCure::repair;
  for (const Extent& extent : entry.extents) {
    const std::uint64_t end = divide_up(extent.content_offset + extent.bytes, header.block_bytes);
    for (std::uint64_t block = extent.content_offset / header.block_bytes; block < end; ++block) {
      const auto bad =
          survey.bad_originals.find(static_cast<ShardIndex>(block / header.stripe_count));
      const std::uint64_t stripe = block % header.stripe_count;
      if (bad != survey.bad_originals.end() && bad->second.contains(stripe) &&
          survey.lost.contains(stripe)) {
        return DamageCure::none;
      }
    }
  }
  return DamageCure::partial_repair;
}

Result<std::vector<OriginalState>> check_originals(const OpenSet& files, const StripeCoder& coder,
                                                   const Survey& survey) {
  const OriginalShards* const originals = files.originals();
  if (originals == nullptr) return std::vector<OriginalState>{};
  CALPE_TRY(OriginalPlace place, OriginalPlace::open(originals->manifest(), originals->original()));
  return OriginalCheck(files, coder, std::move(place)).run(survey);
}

}  // namespace calpe::store
