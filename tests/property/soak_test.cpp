// SPDX-License-Identifier: Apache-2.0
// Random use for a given time: any shape, profile, layout, backend, length and loss, all compared
// byte by byte with the reference backend. 5 seconds, or CALPE_SOAK_SECONDS. Every round has its
// own seed, printed if it fails: CALPE_SOAK_ROUND=n repeats only that round.
#define CALPE_HAS_RAPIDCHECK 0  // drawn by seeds, without shrinking
#include <chrono>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <sstream>

#include "support/environment_scope.hpp"
#include "support/trial_stripe.hpp"

namespace calpe {
namespace {

using namespace tests;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given == nullptr || *given == '\0' ? otherwise : std::strtoull(given, nullptr, 0);
}

// Available backends, without the simulated crossbar, which is about a thousand times slower.
std::vector<std::string> backends() {
  std::vector<std::string> names;
  for (const BackendInfo& info : list_backends()) {
    const bool is_slow = info.name.starts_with("reram") || info.name.starts_with("reference");
    if (info.available && !is_slow) names.push_back(info.name);
  }
  return names;
}

bool is_compiled(const std::string& backend) {
  return backend.starts_with("openmp") || backend.starts_with("opencl") ||
         backend.starts_with("cuda");
}

class Round {
 public:
  Round(std::uint64_t seed, std::span<const std::string> names)
      : random_(seed), case_(drawn(seed)) {
    case_.backend = random_.pick(names);
    // These start a compiler or a driver.
    for (int i = 0; i < 3 && is_compiled(case_.backend); ++i)
      case_.backend = random_.pick(names);
    if (random_.one_in(20)) case_.backend = "auto";
    const unsigned shards = case_.spec.data_shards + case_.spec.parity_shards;
    if (random_.one_in(40) && shards <= 24) case_.shard_bytes = random_.below(65'000);
    options_.threads = random_.one_in(8) ? random_.between(2U, 4U) : 0;
    options_.plan_cache_entries = random_.below(4);
    options_.backend = case_.backend;
  }

  std::string describe() const {
    std::ostringstream out;
    out << case_ << ", " << options_.threads << " threads";
    return out.str();
  }
  const std::string& backend() const { return case_.backend; }
  std::uint64_t bytes() const { return bytes_; }

  void run() {
    Trial trial(case_, options_);  // encodes
    CodecOptions plain;
    plain.backend = "reference";
    const Codec reference = must(make_codec(case_, plain));
    const auto expected = trial.copies(trial.stripe);
    must(reference.encode(as_inputs(trial.data_of(expected)), trial.parity_of(expected)));
    require_equal(trial.stripe, expected, "encode");
    for (int i = 0; i < 3; ++i)
      lose(trial);
    lose_in_batches(trial);
    require(must(trial.codec.verify(as_inputs(trial.data_of(trial.stripe)),
                                    as_inputs(trial.parity_of(trial.stripe))))
                .empty(),
            "a sound stripe is accused");
    locate(trial);
    trial.require_unchanged();
    update(trial, reference);
    bytes_ += trial.shard_count() * trial.shard_bytes;
  }

 private:
  static CodecCase drawn(std::uint64_t seed) {
    Draw draw(seed);
    return draw_case(draw, {.shard_bytes_max = 20'000});
  }
  static void require_equal(std::span<const Shard> got, std::span<const Shard> expected,
                            const std::string& what) {
    for (std::size_t i = 0; i < got.size(); ++i)
      require(equal_bytes(got[i], expected[i]), what + " of shard " + std::to_string(i));
  }

  void lose(Trial& trial) {
    const auto lost = trial.random_loss();
    const Plan plan = must(trial.codec.plan_decode(trial.all_but(lost), lost));
    const auto rebuilt = trial.blanks(plan.writes());
    must(trial.codec.decode(plan, trial.pick(trial.stripe, plan.reads()), rebuilt,
                            {.stores = trial.any_stores()}));
    require_shards(trial, rebuilt, plan.writes(), "decode");
  }
  void lose_in_batches(Trial& trial) {
    const Plan plan = trial.random_plan();
    const auto inputs = trial.pick(trial.stripe, plan.reads());
    std::vector<std::vector<Shard>> rebuilt;
    std::vector<Stripe> stripes;
    for (std::uint64_t count = random_.below(4); count > 0; --count)
      rebuilt.push_back(trial.blanks(plan.writes()));
    for (const std::vector<Shard>& outputs : rebuilt)
      stripes.push_back({inputs, outputs});
    must(must(trial.codec.submit(plan, stripes)).wait());
    for (const std::vector<Shard>& outputs : rebuilt)
      require_shards(trial, outputs, plan.writes(), "a batch");
  }
  void locate(Trial& trial) {
    std::size_t most = trial.codec.proof().losses / 2;
    // Other codes search for sets of suspects, of which there may be too many.
    if (trial.codec.proof().kind != CodeProof::Kind::cauchy)
      most = std::min<std::size_t>(most, trial.shard_count() <= 180 ? 3 : 2);
    if (most == 0 || trial.shard_bytes == 0) return;
    const auto damaged = trial.copies(trial.stripe);
    auto wrong = trial.choose(random_.between<std::size_t>(0, most), 0, trial.shard_count());
    for (const ShardIndex shard : wrong)
      damaged[shard][random_.below(damaged[shard].size())] ^=
          static_cast<std::byte>(random_.between(1, 255));
    std::ranges::sort(wrong);
    require(must(trial.codec.locate(as_inputs(damaged), {})) == wrong, "locate");
  }
  void update(Trial& trial, const Codec& reference) {
    const auto changed = static_cast<ShardIndex>(random_.below(trial.data_shards()));
    const std::size_t offset = random_.below(trial.shard_bytes + 1);
    const Shard delta = trial.take(random_.below(trial.shard_bytes - offset + 1));
    fill_random(random_, delta);
    const Codec::Change change{.data_index = changed,
                               .offset = offset,
                               .shard_bytes = trial.shard_bytes,
                               .parity_indices = {}};
    must(trial.codec.update(change, delta, trial.parity_of(trial.stripe)));
    must(add(trial.stripe[changed].subspan(offset, delta.size()), delta));
    const auto expected = trial.copies(trial.stripe);
    must(reference.encode(as_inputs(trial.data_of(expected)), trial.parity_of(expected)));
    require_equal(trial.stripe, expected, "update");
  }

  Random random_;
  CodecCase case_;
  CodecOptions options_;
  std::uint64_t bytes_ = 0;
};

TEST(Soak, RandomUse) {
  // tests/devices covers compiling device kernels for each plan.
  const EnvironmentScope kernels("CALPE_DEVICE_KERNELS", "table");
  const EnvironmentScope tuning("CALPE_DEVICE_TUNE", "0");
  const std::vector<std::string> names = backends();
  const std::uint64_t alone = number_of("CALPE_SOAK_ROUND", 0);
  const std::uint64_t first = alone != 0 ? alone : conformance::run_seed() << 24U;
  const std::chrono::seconds limit(number_of("CALPE_SOAK_SECONDS", 5));
  const auto start = std::chrono::steady_clock::now();
  std::map<std::string, std::uint64_t> rounds;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  do {
    Round round(first + count, names);
    try {
      round.run();
    } catch (const std::exception& wrong) {
      FAIL() << wrong.what() << ": " << round.describe()
             << "; repeat with CALPE_SOAK_ROUND=" << first + count;
    }
    ++rounds[round.backend()];
    bytes += round.bytes();
    ++count;
  } while (alone == 0 && std::chrono::steady_clock::now() - start < limit);
  std::cout << count << " rounds, " << bytes / 1'000'000 << " MB compared with the reference on "
            << rounds.size() << " backends, from round " << first << " on\n";
  for (const auto& [name, each] : rounds)
    std::cout << "  " << name << ": " << each << "\n";
}

}  // namespace
}  // namespace calpe
