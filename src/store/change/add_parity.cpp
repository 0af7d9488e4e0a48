// SPDX-License-Identifier: Apache-2.0
#include "store/change/add_parity.hpp"

#include <algorithm>
#include <numeric>

#include <calpe/codec.hpp>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "store/change/generation_update.hpp"
#include "store/find/held_set.hpp"
#include "store/format/extended_spec.hpp"
#include "store/read/loss_margin.hpp"
#include "store/read/new_shard_names.hpp"
#include "store/read/open_set.hpp"
#include "store/read/read_back_check.hpp"
#include "store/read/survey.hpp"
#include "store/repair/repair_target.hpp"

namespace calpe::store {

namespace {

// Memory limit for all blocks; a single stripe may exceed it.
constexpr std::uint64_t memory_bytes = 1U << 25U;

std::vector<ShardIndex> indices(std::size_t begin, std::size_t end) {
  std::vector<ShardIndex> all(end - begin);
  std::iota(all.begin(), all.end(), static_cast<ShardIndex>(begin));
  return all;
}

class Addition {
 public:
  Addition(FileSystem& files, const FoundSet& set, const OpenSet& shards, const Codec& codec,
           const AddParityOptions& options)
      : files_(files),
        set_(set),
        shards_(shards),
        codec_(codec),
        options_(options),
        helpers_(options.jobs > 1 ? options.jobs - 1 : 0),
        data_shards_(set.header.spec.data_shards),
        first_new_(set.shards.size()),
        end_(data_shards_ + codec.spec().parity_shards),
        blocks_(end_) {}

  Result<AddParityReport> run() {
    report_.before = set_.header;
    ShardHeader after = set_.header;
    after.spec = codec_.spec();
    CALPE_TRY(const auto change,
              NewGeneration::begin(files_, set_, after, {}, KeptGenerations::as_before()));
    report_.after = change->header();
    CALPE_CHECK(open_targets());
    CALPE_CHECK(encode());
    for (const auto& target : targets_) {
      CALPE_CHECK(target->sync());  // detects a full disk before the old shards change
    }
    CALPE_CHECK(change->commit([&](const ShardHeader& header) { return finish(header); }));
    return std::move(report_);
  }

 private:
  Status open_targets() {
    CALPE_TRY(const StripeCoder coder, StripeCoder::make(report_.after));
    CALPE_TRY(
        const std::vector<std::string> folders,
        choose_folders(set_, coder, {options_.targets, options_.named}, indices(first_new_, end_)));
    for (std::size_t index = first_new_; index < end_; ++index) {
      const std::string& folder = folders[index - first_new_];
      const auto shard = static_cast<ShardIndex>(index);
      CALPE_CHECK(files_.make_folders(folder));
      CALPE_TRY(const NewName name, name_for_shard(files_, report_.after, shard, folder));
      report_.files_created.push_back(name.path);
      if (name.is_taken) report_.files_replaced.push_back(name.path);
      CALPE_TRY(auto target,
                RepairTarget::make(files_, report_.after, shard, name.path,
                                   temporary_name(name.path, set_, shard, index - first_new_)));
      CALPE_CHECK(target->begin());
      targets_.push_back(std::move(target));
    }
    return Done{};
  }

  Status encode() {
    CALPE_TRY(const Plan plan,
              codec_.plan_decode(indices(0, data_shards_), indices(first_new_, end_)));
    const std::uint64_t stripes = set_.header.stripe_count;
    for (std::uint64_t stripe = 0; stripe < stripes;) {
      const StripeRun run = shards_.run_from(stripe, stripes, memory_bytes / end_);
      CALPE_CHECK(read(run));
      CALPE_CHECK(compute(plan, run));
      for (std::size_t i = 0; i < targets_.size(); ++i) {
        CALPE_CHECK(targets_[i]->write(run, blocks_[first_new_ + i]));
      }
      stripe = run.end();
      if (!options_.on_progress) continue;
      options_.on_progress(content_before(set_.header, stripe), set_.header.content_bytes);
    }
    return Done{};
  }

  // Damaged data must not get into new parity.
  Status read(const StripeRun& run) {
    std::vector<std::vector<std::uint8_t>> good(data_shards_);
    for (std::size_t shard = 0; shard < end_; ++shard) {
      const bool is_used = shard < data_shards_ || shard >= first_new_;
      if (is_used) blocks_[shard].resize(run.stripe_count * set_.header.block_bytes);
    }
    for (auto& flags : good) {
      flags.resize(run.stripe_count);
    }
    helpers_.run(data_shards_, [&](std::size_t shard) {
      shards_.read_any(shard, run, {blocks_[shard].data(), set_.header.block_bytes, good[shard]});
    });
    for (std::size_t shard = 0; shard < data_shards_; ++shard) {
      const auto bad = std::find(good[shard].begin(), good[shard].end(), std::uint8_t{0});
      if (bad == good[shard].end()) continue;
      return make_error(ErrorCode::corrupt, set_.shards[shard].front().path,
                        " is damaged in stripe ",
                        run.first_stripe + static_cast<std::uint64_t>(bad - good[shard].begin()),
                        shards_.read_error_text(), "; run calpe repair first");
    }
    return Done{};
  }

  Status compute(const Plan& plan, const StripeRun& run) {
    std::vector<Status> outcomes(run.stripe_count, Done{});
    helpers_.run(run.stripe_count, [&](std::size_t j) {
      outcomes[j] = guarded([&] { return compute_stripe(plan, j); });
    });
    for (Status& outcome : outcomes) {
      if (!outcome) return std::move(outcome);
    }
    return Done{};
  }

  Status compute_stripe(const Plan& plan, std::size_t j) {
    const std::size_t block_bytes = set_.header.block_bytes;
    std::vector<ConstShard> inputs;
    for (const ShardIndex shard : plan.reads()) {
      inputs.emplace_back(blocks_[shard].data() + j * block_bytes, block_bytes);
    }
    std::vector<Shard> outputs;
    for (const ShardIndex shard : plan.writes()) {
      outputs.emplace_back(blocks_[shard].data() + j * block_bytes, block_bytes);
    }
    return codec_.run(plan, inputs, outputs);
  }

  Status finish(const ShardHeader& header) {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      CALPE_CHECK(targets_[i]->finish());
      CALPE_CHECK(check_written_shard(files_, header, static_cast<ShardIndex>(first_new_ + i),
                                      targets_[i]->path()));
    }
    return Done{};
  }

  FileSystem& files_;
  const FoundSet& set_;
  const OpenSet& shards_;
  const Codec& codec_;
  const AddParityOptions& options_;
  ThreadPool helpers_;
  std::size_t data_shards_;
  std::size_t first_new_;
  std::size_t end_;
  std::vector<std::vector<std::byte>> blocks_;  // by shard; empty for old parity, which is not read
  std::vector<std::unique_ptr<RepairTarget>> targets_;
  AddParityReport report_;
};

}  // namespace

Result<AddParityReport> add_parity(FileSystem& files, const FoundSet& set,
                                   const AddParityOptions& options) {
  return guarded([&]() -> Result<AddParityReport> {
    CALPE_TRY(const std::optional<CodeSpec> spec,
              extended_spec(set.header.spec, options.parity_shards));
    if (!spec) {
      return invalid("the existing parity of set ", uuid_text(set.header.uuid),
                     " would change with ", options.parity_shards,
                     " parity shards; restore the data and protect it again");
    }
    CALPE_TRY(const Codec codec, Codec::create(*spec));
    CALPE_TRY(const auto held, hold_found_set(files, set, LockKind::exclusive));
    CALPE_TRY(const OpenSet shards, OpenSet::open(*held, set));
    return Addition(*held, set, shards, codec, options).run();
  });
}

}  // namespace calpe::store
