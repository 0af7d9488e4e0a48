// SPDX-License-Identifier: Apache-2.0
// The operations whose crash states are enumerated, and the expected sectors and epochs of each
// (the formula in docs/adr/0018-array.md). An operation has 2 x sectors + 2 x epochs states.
#pragma once
#include "array/crash_run.hpp"

namespace calpe::tests {

// Sectors written to all members, and batches that make something durable. The next commit or
// checkpoint writes blocks in place.
struct Cost {
  std::uint64_t sectors = 0;
  std::uint64_t epochs = 0;
  std::uint64_t in_place = 0;
};

// n members, m of them parity; c blocks in a chunk; 8 sectors in a block. In arrays this small, the
// header of a batch and each part of a checkpoint take one block.
class CrashCosts {
 public:
  explicit CrashCosts(const CrashShape& shape)
      : n_(shape.members()), m_(shape.parity), c_(shape.chunk_bytes / 4096) {}

  // d data blocks of one column: header and block to d + m logs, later the block to its slot.
  Cost column(std::uint64_t d) const { return {(d + m_) * (8 + 8), 1, (d + m_) * 8}; }
  // All c blocks of a chunk: one header for each of the 1 + m members.
  Cost chunk() const { return {(1 + m_) * (8 + 8 * c_), 1, (1 + m_) * 8 * c_}; }
  // Written to a free slot and flushed; then a record in every log.
  Cost whole() const { return {n_ * (8 * c_ + 8), 2}; }
  Cost hole() const { return {n_ * 8, 1}; }
  // One block of a stripe that was a hole: every log gets the record with its slot.
  Cost block_in_hole() const { return {n_ * 8 + (1 + m_) * 8, 1, (1 + m_) * 8}; }
  // A page of checksums of each member with a new one; the changed pages of the index copy (all
  // three the first time since open, later map and digests); superblocks.
  Cost checkpoint(std::uint64_t tables, std::uint64_t pages) const {
    return {8 * tables + n_ * (8 * pages + 8), 2};
  }
  std::uint64_t n() const { return n_; }
  std::uint64_t m() const { return m_; }

 private:
  std::uint64_t n_;
  std::uint64_t m_;
  std::uint64_t c_;
};

class CrashScript {
 public:
  CrashScript(const CrashShape& shape, std::uint64_t seed) : run_(shape, seed), costs_(shape) {}

  // All stripes are written; counting starts here.
  void prepare() {
    const CrashShape& shape = run_.shape();
    run_.start();
    for (std::uint64_t i = 0; i < shape.stripes && is_sound(); ++i) {
      run_.write(i * shape.stripe_bytes(), shape.stripe_bytes(), Durability::cached);
    }
    if (is_sound()) run_.close();
    if (is_sound()) run_.open();
    run_.begin();
  }

  void round() {
    const std::uint64_t stripe = run_.shape().stripe_bytes();
    const std::uint64_t other = any_stripe();
    step("a durable block", costs_.column(1),
         [&] { run_.write(any_stripe() + any_column(), 4096, Durability::durable); });
    step("a durable chunk", costs_.chunk(),
         [&] { run_.write(any_stripe(), run_.shape().chunk_bytes, Durability::durable); });
    step("three cached blocks and a flush", costs_.column(3), [&] {
      const std::uint64_t at = any_stripe() + any_column();
      for (std::uint64_t shard = 0; shard < 3; ++shard) {  // also unaligned
        run_.write(at + shard * run_.shape().chunk_bytes + 512 * shard, 4096 - 1024 * shard,
                   Durability::cached);
      }
      run_.flush();
    });
    step("a whole stripe and a flush", costs_.whole(), [&] {
      run_.write(any_stripe(), stripe, Durability::cached);
      run_.flush();
    });
    step("trim", costs_.hole(), [&] { run_.trim(other, stripe, Durability::durable); });
    step("a block in a hole", costs_.block_in_hole(),
         [&] { run_.write(other + any_column(), 4096, Durability::durable); });
    step("a block", costs_.column(1),
         [&] { run_.write(any_stripe() + any_column(), 4096, Durability::durable); });
    step("a durable whole stripe", costs_.whole(),
         [&] { run_.write(other, stripe, Durability::durable); });
    step("checkpoint", costs_.checkpoint(costs_.n(), 3), [&] { run_.checkpoint(); });
    step("a block", costs_.column(1),
         [&] { run_.write(any_stripe() + any_column(), 4096, Durability::durable); });
    step("close", costs_.checkpoint(1 + costs_.m(), 2), [&] { run_.close(); });
    step("open", costs_.checkpoint(0, 3), [&] { run_.open(); });
  }

  CrashRun& run() { return run_; }
  std::uint64_t expected_states() const { return 2 * expected_.sectors + 2 * expected_.epochs; }
  static bool is_sound() { return !testing::Test::HasFatalFailure(); }

 private:
  std::uint64_t any_stripe() {
    return run_.shape().stripe_bytes() * run_.random().below(run_.shape().stripes);
  }
  std::uint64_t any_column() { return 4096 * run_.random().below(run_.shape().chunk_bytes / 4096); }

  template <class Operation>
  void step(const char* name, const Cost& cost, Operation operation) {
    if (!is_sound()) return;
    SCOPED_TRACE(name);
    operation();
    if (!is_sound()) return;
    expected_.sectors += expected_.in_place + cost.sectors;
    expected_.epochs += cost.epochs;
    expected_.in_place = cost.in_place;
    // Writes since the end of the last epoch belong to the next one.
    EXPECT_EQ(run_.counts().sectors + run_.sectors_since_epoch(), expected_.sectors);
    EXPECT_EQ(run_.counts().epochs, expected_.epochs);
  }

  CrashRun run_;
  CrashCosts costs_;
  Cost expected_;
};

inline void run_crash_script(const CrashShape& shape, std::uint64_t states) {
  keep_memory();
  CrashScript script(shape, array_seed());
  std::cout << shape.data << "+" << shape.parity << ", CALPE_ARRAY_SEED=" << array_seed()
            << std::endl;
  script.prepare();
  while (script.expected_states() < states && !testing::Test::HasFailure()) {
    script.round();
  }
  if (testing::Test::HasFailure()) return;
  script.run().finish();
  const CrashRun::Counts& counts = script.run().counts();
  std::cout << shape.data << "+" << shape.parity << ": " << counts.prefix_torn
            << " prefix-torn states = 2 x " << counts.sectors << " sectors + 2 x " << counts.epochs
            << " epochs, " << counts.random << " random ones; " << counts.crashed_twice
            << " crashed in recovery, too; " << counts.sets << " sets of members lost\n";
  EXPECT_EQ(counts.prefix_torn, script.expected_states());
  EXPECT_GE(counts.prefix_torn, states);
}

}  // namespace calpe::tests
