// SPDX-License-Identifier: Apache-2.0
#include "store/read/survey.hpp"

#include <algorithm>
#include <optional>

#include "base/allocation_guard.hpp"
#include "base/progress.hpp"
#include "base/try.hpp"

namespace calpe::store {

namespace {

enum class Verdict : std::uint8_t { good, bad, lost };

// The first slot of a data shard has the blocks from where the file list says.
void add_bad_data(Survey& survey, const StripeWindow& run, const ShardHeader& header, std::size_t j,
                  std::uint64_t stripe) {
  const auto slots = run.slots();
  bool is_any = false;
  for (std::size_t slot = 0; slot < slots.size() && slots[slot].index < header.spec.data_shards;
       ++slot) {
    if (run.is_good(slot, j)) continue;
    is_any = true;
    const bool is_first = slot == 0 || slots[slot - 1].index != slots[slot].index;
    if (is_first && header.kind == SetKind::originals)
      survey.bad_originals[slots[slot].index].add(stripe);
  }
  if (is_any) survey.bad_data.add(stripe);
}

// Random damage in many files produces many kinds of stripes. Beyond this number they are merged
// into one that is no better than any of them.
constexpr std::size_t kinds_max = 1000;

void add_kind(Survey& survey, const StripeWindow& slots, std::size_t j) {
  std::vector<std::uint8_t> kind;
  for (std::size_t slot = 0; slot < slots.slots().size(); ++slot) {
    if (slots.slots()[slot].copy != nullptr) kind.push_back(slots.is_good(slot, j) ? 1 : 0);
  }
  if (survey.kinds.contains(kind)) return;
  if (survey.kinds.size() >= kinds_max) {
    for (const std::vector<std::uint8_t>& other : survey.kinds) {
      std::transform(kind.begin(), kind.end(), other.begin(), kind.begin(),
                     [](std::uint8_t a, std::uint8_t b) { return std::min(a, b); });
    }
    survey.kinds.clear();
  }
  survey.kinds.insert(std::move(kind));
}

void add_damage(ReadDamage& damage, const StripeWindow& run, std::size_t j, std::uint64_t stripe) {
  bool is_any_bad = false;
  const auto slots = run.slots();
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot].copy == nullptr || run.is_good(slot, j)) continue;
    is_any_bad = true;
    const bool is_first = slot == 0 || slots[slot - 1].index != slots[slot].index;
    const ShardIndex index = slots[slot].index;
    if (is_first && !run.has_good(index, j)) damage.shards[index].add(stripe);
  }
  if (is_any_bad) damage.stripes.add(stripe);
}

// State of one stripe, written by one thread.
struct StripeState {
  Verdict verdict = Verdict::good;
  bool is_contradicting = false;
  std::optional<Error> error = {};
};

Status look_at_stripe(StripeWindow& run, const StripeCoder& coder, Compared compared, std::size_t j,
                      StripeState& state) {
  bool is_any_bad = false;
  for (std::size_t slot = 0; slot < run.slots().size(); ++slot) {
    is_any_bad = is_any_bad || !run.is_good(slot, j);
  }
  if (!is_any_bad && compared != Compared::everywhere) return Done{};
  std::vector<Shard> shards;
  std::vector<std::uint8_t> good;
  const StripeBlocks blocks = run.stripe(j, shards, good);
  if (is_any_bad) state.verdict = coder.can_rebuild(good) ? Verdict::bad : Verdict::lost;
  if (compared == Compared::nowhere) return Done{};
  CALPE_TRY(const Rebuilt outcome, coder.compare(blocks));
  state.is_contradicting = outcome == Rebuilt::contradicting;
  return Done{};
}

// Stripes that no file reaches.
void add_unread(Survey& survey, const OpenSet& files, const StripeRun& run) {
  survey.bad.add_run(run);
  survey.bad_data.add_run(run);
  survey.lost.add_run(run);
  if (run.stripe_count != 0) survey.kinds.emplace(survey.copies.size(), std::uint8_t{0});
  for (CopyState& copy : survey.copies) {
    copy.bad_blocks += run.stripe_count;
  }
  for (ShardIndex i = 0; i < first_file_shard(files.header()); ++i)
    survey.bad_originals[i].add_run(run);
  if (!survey.copies.empty()) survey.damage.stripes.add_run(run);
  for (std::size_t index = 0; index < files.shard_count(); ++index) {
    if (files.copies_of(index).empty()) continue;
    survey.damage.shards[static_cast<ShardIndex>(index)].add_run(run);
  }
}

Status add_states(Survey& survey, const ShardHeader& header, const StripeWindow& slots,
                  const StripeRun& run, const std::vector<StripeState>& states) {
  for (std::size_t j = 0; j < run.stripe_count; ++j) {
    if (states[j].error) return *states[j].error;
    if (states[j].verdict != Verdict::good) {
      survey.bad.add(run.first_stripe + j);
      add_damage(survey.damage, slots, j, run.first_stripe + j);
    }
    add_kind(survey, slots, j);
    add_bad_data(survey, slots, header, j, run.first_stripe + j);
    if (states[j].verdict == Verdict::lost) survey.lost.add(run.first_stripe + j);
    if (states[j].is_contradicting) {
      survey.contradicting.add(run.first_stripe + j);
      survey.damage.contradicting.add(run.first_stripe + j);
    }
  }
  std::size_t copy = 0;
  for (std::size_t slot = 0; slot < slots.slots().size(); ++slot) {
    if (slots.slots()[slot].copy == nullptr) continue;
    for (std::size_t j = 0; j < run.stripe_count; ++j) {
      survey.copies[copy].bad_blocks += slots.is_good(slot, j) ? 0 : 1;
    }
    ++copy;
  }
  return Done{};
}

Result<Survey> survey_once(const OpenSet& files, const StripeCoder& coder, Compared compared,
                           ThreadPool* helpers, const OnProgress& on_progress, const Scrub& scrub) {
  Survey survey;
  survey.copies.resize(files.copies().size());
  const StripeRun wanted = scrub.stripes_of(files.geometry().stripe_count);
  const std::uint64_t reachable =
      std::clamp(files.reachable_stripes(), wanted.first_stripe, wanted.end());
  ReadPace pace(scrub.bytes_per_second);
  StripeWindow slots(files, helpers, false);
  CopyHashes hashes(files);
  std::vector<StripeState> states;
  for (std::uint64_t stripe = wanted.first_stripe; stripe < reachable;) {
    const std::uint64_t next = std::min(files.next_stripe(stripe), reachable);
    add_unread(survey, files, {stripe, next - stripe});
    stripe = next;
    if (stripe == reachable) break;
    const StripeRun run = slots.next_run(stripe, reachable);
    if (scrub.is_uncached) files.drop_cached(run);
    slots.read(run);
    if (scrub.is_uncached) files.drop_cached(run);
    pace.add(run.stripe_count * files.geometry().block_bytes * files.copies().size());
    if (scrub.is_whole()) hashes.add(slots, run);
    states.assign(run.stripe_count, {});
    slots.for_each_stripe([&](std::size_t j) {
      const Status looked =
          guarded([&] { return look_at_stripe(slots, coder, compared, j, states[j]); });
      if (!looked) states[j].error = looked.error();
    });
    CALPE_CHECK(add_states(survey, files.header(), slots, run, states));
    stripe = run.end();
    if (on_progress) {
      const std::uint64_t before = content_before(files.header(), wanted.first_stripe);
      on_progress(content_before(files.header(), stripe) - before,
                  content_before(files.header(), wanted.end()) - before);
    }
  }
  add_unread(survey, files, {reachable, wanted.end() - reachable});
  CALPE_TRY(const std::vector<RootState> roots, hashes.finish());
  for (std::size_t i = 0; i < survey.copies.size(); ++i) {
    survey.copies[i].root = roots[i];
    survey.copies[i].is_padding_good = files.is_padding_good(files.copies()[i]);
  }
  return survey;
}

// Returns true if it distrusts a file that was trusted before.
bool distrust_wrong(OpenSet& files, const Survey& survey) {
  bool is_any = false;
  for (std::size_t i = 0; i < survey.copies.size(); ++i) {
    if (survey.copies[i].root != RootState::wrong) continue;
    is_any = is_any || !files.copies()[i].found.is_distrusted;
    files.distrust(i);
  }
  return is_any;
}

}  // namespace

std::uint64_t content_before(const ShardHeader& header, std::uint64_t end) noexcept {
  const std::uint64_t stripe_bytes = std::uint64_t{header.spec.data_shards} * header.block_bytes;
  return std::min(header.content_bytes, end * stripe_bytes);
}

Result<Survey> survey_set(OpenSet& files, const StripeCoder& coder, Compared compared,
                          ThreadPool* helpers, const OnProgress& on_progress, const Scrub& scrub) {
  CALPE_TRY(Survey survey, survey_once(files, coder, compared, helpers, on_progress, scrub));
  if (!distrust_wrong(files, survey)) return survey;
  return survey_once(files, coder, compared, helpers, {}, scrub);
}

}  // namespace calpe::store
