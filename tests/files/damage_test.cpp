// SPDX-License-Identifier: Apache-2.0
// Applies 20,000 random damages to sets of shards, or 200,000 with CALPE_NIGHTLY=1. Reading gives
// the original bytes or an error that names the stripes, and repair restores the files byte for
// byte.
#include "files/damage.hpp"

#include <array>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>

#include "store/read/set_reader.hpp"
#include "store/read/verify_set.hpp"
#include "store/repair/repair_set.hpp"

namespace calpe::tests {

namespace {

const std::vector<std::string> folders = {"one", "two"};

constexpr std::array shapes = {
    SetShape{CodeFamily::default_code, 4, 2, 64, 5000},
    SetShape{CodeFamily::default_code, 1, 1, 64, 300},
    SetShape{CodeFamily::default_code, 2, 2, 512, 3000},
    SetShape{CodeFamily::default_code, 10, 4, 64, 9000},
    SetShape{CodeFamily::default_code, 6, 5, 128, 4000},
    SetShape{CodeFamily::cauchy, 5, 3, 192, 0},
    SetShape{CodeFamily::vandermonde, 3, 2, 64, 110000},  // two groups of stripes
};

struct Counts {
  std::size_t trials = 0;
  std::size_t damages = 0;
  std::size_t repaired = 0;
  std::size_t lost = 0;
  std::size_t unseen = 0;  // no shard with a header was left
};

class Trial {
 public:
  Trial(const Original& original, const Files& files) : original_(original), before_(files) {
    for (const auto& [path, bytes] : files)
      files_.put(path, bytes);
    left_ = look_at(before_, original);
  }

  void run(Counts& counts) {
    const auto findings = must(store::find_sets(files_, folders));
    const auto set = store::choose_set(findings);
    if (left_.present == 0) {
      ++counts.unseen;
      require(!set || !(set->header.generation == original_.header.generation),
              "a set without a header is not found");
      return;
    }
    require(set.has_value(), "a set with a header is found");
    if (set->header.generation != original_.header.generation) {
      // Correct only when too few shards of the newer one exist.
      require(left_.present < original_.header.spec.data_shards, "the newest generation is taken");
      ++counts.unseen;
      return;
    }
    check_verify(*set);
    check_read(*set);
    check_repair(*set);
    ++(left_.lost_stripes.empty() ? counts.repaired : counts.lost);
  }

 private:
  void check_verify(const store::FoundSet& set) {
    const auto report = must(store::verify_set(files_, set, true));
    require(report.is_repairable() == left_.lost_stripes.empty(), "repairable or not");
    require(report.is_good() == left_.is_untouched, "damage is reported, and nothing else");
    require(report.lost_stripe_count == left_.lost_stripes.size(), "number of lost stripes");
    auto first = left_.lost_stripes;
    first.resize(std::min<std::size_t>(first.size(), 1000));
    require(report.lost_stripes == first, "the lost stripes are named");
    require(report.contradicting_stripes == 0, "nothing contradicts");
    require(files_.all() == before_, "verify writes nothing");
  }

  void check_read(const store::FoundSet& set) {
    auto reader = must(store::SetReader::open(files_, set));
    Bytes bytes(original_.content.size());
    const Status done = reader.read(bytes, 0);
    // What is lost may be after the end of the content.
    require(done.has_value() || !left_.lost_stripes.empty(), "readable");
    if (done.has_value()) {
      require(bytes == original_.content, "the content is the original");
      require(reader.manifest().has_value(), "the manifest is read");
      return;
    }
    require(done.error().code == ErrorCode::unrecoverable, "lost stripes are unrecoverable");
    const std::string& message = done.error().message;
    if (left_.present < original_.header.spec.data_shards) {
      require(message.starts_with("too few shards are present: " + std::to_string(left_.present)),
              "the message counts the shards: " + message);
      return;
    }
    require(message.find(std::to_string(left_.lost_stripes.front())) != std::string::npos,
            "the message names the stripe: " + message);
    check_good_stripes(reader);
  }

  // Ranges without lost stripes are still readable.
  void check_good_stripes(store::SetReader& reader) {
    const auto& header = original_.header;
    const std::uint64_t stripe_bytes = std::uint64_t{header.spec.data_shards} * header.block_bytes;
    const auto& lost = left_.lost_stripes;
    for (std::uint64_t stripe = 0; stripe < header.stripe_count; ++stripe) {
      if (std::binary_search(lost.begin(), lost.end(), stripe)) continue;
      const std::uint64_t at = stripe * stripe_bytes;
      Bytes bytes(std::min(stripe_bytes, header.content_bytes - at));
      require(reader.read(bytes, at).has_value(), "a stripe that is not lost is readable");
      require(std::equal(bytes.begin(), bytes.end(),
                         original_.content.begin() + static_cast<std::ptrdiff_t>(at)),
              "a stripe that is not lost has its bytes");
      break;
    }
  }

  void check_repair(const store::FoundSet& set) {
    const auto report = store::repair_set(files_, set);
    const Files after = files_.all();
    if (!left_.lost_stripes.empty()) {
      require(!report.has_value() && report.error().code == ErrorCode::unrecoverable,
              "what is lost is not repaired");
      require(after == before_, "an unrepairable set is not touched");
      check_partial_repair(set);
      return;
    }
    must(report);
    for (const Bytes& shard : original_.shards) {
      const bool is_there = std::any_of(after.begin(), after.end(),
                                        [&](const auto& file) { return file.second == shard; });
      require(is_there, "a repaired shard has its original bytes");
    }
    const auto findings = must(store::find_sets(files_, folders));
    const auto again = must(store::choose_set(findings));
    require(must(store::verify_set(files_, again, true)).is_good(), "good after the repair");
  }

  void check_partial_repair(const store::FoundSet& set) {
    const auto report = store::repair_set(files_, set, {.partial = true});
    if (left_.lost_stripes.size() == original_.header.stripe_count) {
      require(!report.has_value() && files_.all() == before_, "nothing is left to repair");
      return;
    }
    must(report);
    require(report->is_any_lost(), "a partial repair reports the loss");
    const Left now = look_at(files_.all(), original_);
    require(now.lost_stripes == left_.lost_stripes, "lost stripes stay lost");
    std::uint64_t lost_bytes = 0;
    for (std::uint64_t stripe = 0; stripe < original_.header.stripe_count; ++stripe) {
      const bool is_lost =
          std::binary_search(left_.lost_stripes.begin(), left_.lost_stripes.end(), stripe);
      for (std::size_t shard = 0; shard < now.good.size(); ++shard) {
        require(now.good[shard][stripe] == (!is_lost || left_.good[shard][stripe]),
                "all but lost blocks are good");
        lost_bytes += now.good[shard][stripe] ? 0 : lost_bytes_of(shard, stripe);
      }
    }
    require(store::total_bytes(report->lost) == lost_bytes, "the lost bytes are listed");
    const auto again = must(store::choose_set(must(store::find_sets(files_, folders))));
    const auto verified = must(store::verify_set(files_, again, true));
    require(verified.lost_stripe_count == left_.lost_stripes.size(), "no lost block looks good");
    require(verified.bad_stripes == left_.lost_stripes.size(), "all other stripes are repaired");
  }

  // Bytes of the content in a block.
  std::uint64_t lost_bytes_of(std::size_t shard, std::uint64_t stripe) const {
    const auto& header = original_.header;
    if (shard >= header.spec.data_shards) return 0;
    const std::uint64_t begin = (stripe * header.spec.data_shards + shard) * header.block_bytes;
    return std::min<std::uint64_t>(header.block_bytes,
                                   header.content_bytes - std::min(begin, header.content_bytes));
  }

  const Original& original_;
  Files before_;
  BoundedFiles files_;
  Left left_;
};

class DamageTest : public ::testing::TestWithParam<SetShape> {};

TEST_P(DamageTest, gives_the_original_bytes_or_an_error) {
  const char* asked = std::getenv("CALPE_TEST_SEED");
  const std::uint64_t seed =
      asked != nullptr ? std::strtoull(asked, nullptr, 10) : std::random_device{}();
  std::cout << "CALPE_TEST_SEED=" << seed << '\n';
  Chance chance(seed);
  SetShape shape = GetParam();
  const Original old = protect_in_memory(shape, chance);
  Original original = protect_in_memory(shape, chance);
  rename_set(original, old.header.uuid, old.header.generation + 1);
  Files whole;
  for (std::size_t i = 0; i < original.shards.size(); ++i) {
    whole[original.paths[i]] = original.shards[i];
  }
  // The large set takes longer and suffers the same kinds of damage.
  const std::size_t share = shape.data_bytes > 50000 ? 400 : 3300;
  Counts counts;
  while (counts.damages < nightly(share)) {
    Files files = whole;
    Damager damager{original, old, chance, files};
    std::string list;
    const std::size_t count =
        chance.one_in(3) ? 1 : chance.between(1, std::size_t{2} * shape.parity_shards + 2);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t kind = chance.between(0, damage_count - 1);
      if (!damager.apply(static_cast<Damage>(kind))) continue;
      list += " " + std::string(damage_names[kind]);
      ++counts.damages;
    }
    ++counts.trials;
    try {
      Trial(original, files).run(counts);
    } catch (const std::exception& failure) {
      FAIL() << failure.what() << " in trial " << counts.trials << ":" << list;
    }
  }
  std::cout << counts.damages << " damages in " << counts.trials << " sets: " << counts.repaired
            << " repaired, " << counts.lost << " beyond repair, " << counts.unseen
            << " without a header\n";
  EXPECT_GT(counts.repaired, counts.trials / 20);
  EXPECT_GT(counts.lost, 0U);
}

std::string name_of(const ::testing::TestParamInfo<SetShape>& test) {
  return std::to_string(test.param.data_shards) + "and" + std::to_string(test.param.parity_shards) +
         "of" + std::to_string(test.param.data_bytes);
}

INSTANTIATE_TEST_SUITE_P(shapes, DamageTest, ::testing::ValuesIn(shapes), name_of);

}  // namespace

}  // namespace calpe::tests
