// SPDX-License-Identifier: Apache-2.0
#include "store/repair/rebuild_parity.hpp"

#include <algorithm>
#include <span>

#include "base/allocation_guard.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/in_place_pages.hpp"
#include "store/read/loss_margin.hpp"
#include "store/read/new_shard_names.hpp"
#include "store/read/read_back_check.hpp"
#include "store/read/report.hpp"
#include "store/repair/repair_target.hpp"

namespace calpe::store {

namespace {

class Remake {
 public:
  Remake(const ParityRemake& work, RepairReport& report)
      : work_(work),
        header_(work.set.header),
        report_(report),
        slots_(work.shards, &work.helpers, true),
        targets_(slots_.slots().size()) {}

  Status run() {
    CALPE_CHECK(open_targets());
    for (const auto& target : targets_) {
      if (target) CALPE_CHECK(target->begin());
    }
    for (std::uint64_t stripe = 0; stripe < header_.stripe_count;) {
      const StripeRun run = slots_.next_run(stripe, header_.stripe_count);
      CALPE_CHECK(write_run(run));
      stripe = run.end();
      if (work_.on_progress) {
        work_.on_progress(content_before(header_, stripe), header_.content_bytes);
      }
    }
    const std::vector<std::byte>& manifest = work_.shards.originals()->manifest_bytes();
    for (const auto& target : targets_) {
      if (!target) continue;
      for (const ListPart& part : list_parts(header_, manifest))
        CALPE_CHECK(target->write_rest(part.bytes, part.offset));
      CALPE_CHECK(target->finish());
    }
    for (std::size_t slot = 0; slot < targets_.size(); ++slot) {
      if (!targets_[slot]) continue;
      CALPE_CHECK(check_written_shard(work_.files, header_, slots_.slots()[slot].index,
                                      targets_[slot]->path()));
    }
    return Done{};
  }

 private:
  Status open_targets() {
    std::vector<ShardIndex> lost;
    for (const Slot& slot : slots_.slots()) {
      const bool is_parity = slot.index >= header_.spec.data_shards;
      if (is_parity && slot.copy == nullptr) lost.push_back(slot.index);
    }
    CALPE_TRY(const std::vector<std::string> folders,
              choose_folders(work_.set, work_.coder, {work_.targets, work_.named}, lost));
    auto next_folder = folders.begin();
    for (std::size_t slot = 0; slot < targets_.size(); ++slot) {
      const ShardIndex index = slots_.slots()[slot].index;
      const ShardCopy* const copy = slots_.slots()[slot].copy;
      if (index < header_.spec.data_shards) continue;
      std::string path;
      if (copy == nullptr) {
        const std::string& folder = *next_folder++;
        CALPE_CHECK(work_.files.make_folders(folder));
        CALPE_TRY(const NewName name, name_for_shard(work_.files, header_, index, folder));
        path = name.path;
        report_.files_created.push_back(path);
        if (name.is_taken) report_.files_replaced.push_back(path);
      } else if (!is_whole(header_, copy->found, state_of(*copy))) {
        path = copy->found.path;
        report_.files_changed.push_back(path);
      } else {
        continue;
      }
      CALPE_TRY(targets_[slot], RepairTarget::make(work_.files, header_, index, path,
                                                   temporary_name(path, work_.set, index, slot)));
    }
    return Done{};
  }

  // Parity is at the end of both lists. Data shards had more copies if originals had moved.
  const CopyState& state_of(const ShardCopy& copy) const {
    const std::span<const ShardCopy> copies = work_.shards.copies();
    const auto behind = static_cast<std::size_t>(copies.data() + copies.size() - &copy);
    return work_.survey.copies[work_.survey.copies.size() - behind];
  }

  Status write_run(const StripeRun& run) {
    slots_.read(run);
    std::vector<Result<Rebuilt>> outcomes(run.stripe_count, Rebuilt::done);
    slots_.for_each_stripe([&](std::size_t j) {
      outcomes[j] = guarded([&] { return slots_.complete(work_.coder, j); });
    });
    for (std::size_t j = 0; j < outcomes.size(); ++j) {
      if (!outcomes[j]) return outcomes[j].error();
      if (*outcomes[j] != Rebuilt::done) {
        return make_error(ErrorCode::io, "stripe ", run.first_stripe + j,
                          " was repairable but no longer is", work_.shards.read_error_text());
      }
    }
    for (std::size_t slot = 0; slot < targets_.size(); ++slot) {
      if (!targets_[slot]) continue;
      CALPE_CHECK(targets_[slot]->write(run, slots_.blocks(slot)));
      report_.blocks_written += run.stripe_count;
    }
    return write_pages(run);
  }

  // Writes the checksums of a group when it is complete.
  Status write_pages(const StripeRun& run) {
    const std::uint64_t first = run.first_stripe / group_stripes * group_stripes;
    if (run.first_stripe == first) checksums_.assign(work_.shards.shard_count() * group_stripes, 0);
    for (std::size_t slot = 0; slot < targets_.size(); ++slot) {
      const ShardIndex index = slots_.slots()[slot].index;
      for (std::size_t j = 0; j < run.stripe_count; ++j) {
        const BlockName name = {.uuid = header_.uuid,
                                .generation = header_.generation,
                                .stripe = run.first_stripe + j,
                                .shard = index};
        checksums_[index * group_stripes + (name.stripe - first)] = block_checksum(
            name, slots_.blocks(slot).subspan(j * header_.block_bytes, header_.block_bytes));
      }
    }
    if (run.end() % group_stripes != 0 && run.end() != header_.stripe_count) return Done{};
    const BlockName group = {
        .uuid = header_.uuid, .generation = header_.generation, .stripe = first, .shard = 0};
    const std::uint64_t offset = work_.shards.geometry().checksum_offset(first);
    for (std::size_t slot = 0; slot < targets_.size(); ++slot) {
      if (!targets_[slot]) continue;
      const auto pages =
          original_pages(group, header_.spec.data_shards, slots_.slots()[slot].index, checksums_);
      CALPE_CHECK(targets_[slot]->write_rest(std::as_bytes(std::span(pages)), offset));
    }
    return Done{};
  }

  const ParityRemake& work_;
  const ShardHeader& header_;
  RepairReport& report_;
  StripeWindow slots_;
  std::vector<std::unique_ptr<RepairTarget>> targets_;  // by slot; nullptr: nothing to rebuild
  std::vector<LittleU64> checksums_;                    // of a group, by shard
};

}  // namespace

Status remake_parity(const ParityRemake& work, RepairReport& report) {
  return Remake(work, report).run();
}

}  // namespace calpe::store
