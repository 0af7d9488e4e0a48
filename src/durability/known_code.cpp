// SPDX-License-Identifier: Apache-2.0
#include "durability/known_code.hpp"

#include <charconv>
#include <numeric>

#include <calpe/codec.hpp>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::durability {

namespace {

// Parses "12+2+2" into its numbers; empty if malformed.
std::vector<unsigned> parse_sum(std::string_view text) {
  std::vector<unsigned> numbers;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (true) {
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    if (stop == end) return numbers;
    if (*stop != '+') return {};
    at = stop + 1;
  }
}

Result<CodeSpec> spec_of(const CodeChoice& choice) {
  CALPE_TRY(CodeSpec spec, find_profile(choice.profile));
  if (choice.data + choice.parity > byte_shard_count_max) {
    return invalid(name_of(choice), " has ", choice.data + choice.parity,
                   " shards; expected at most ", byte_shard_count_max);
  }
  spec.data_shards = choice.data;
  spec.parity_shards = choice.parity;
  spec.local_groups = choice.groups;
  return spec;
}

// Shards read to rebuild a single lost one, averaged over all shards.
Result<double> mean_reads(const CodeSpec& spec) {
  CALPE_TRY(const Codec codec, Codec::create(spec));
  const auto shards = static_cast<ShardIndex>(spec.data_shards + spec.parity_shards);
  std::size_t reads = 0;
  for (ShardIndex lost = 0; lost < shards; ++lost) {
    std::vector<ShardIndex> others(shards);
    std::iota(others.begin(), others.end(), ShardIndex{0});
    others.erase(others.begin() + lost);
    const ShardIndex wanted[] = {lost};
    CALPE_TRY(const Plan plan, codec.plan_decode(others, wanted));
    reads += plan.reads().size();
  }
  return static_cast<double>(reads) / shards;
}

// Counts all patterns of an lrc; if there are too many, uses what the proof guarantees.
void set_dead_patterns(KnownCode& known, const CodeSpec& spec, const CodeProof& proof) {
  Scheme& scheme = known.scheme;
  const auto counts = count_recoverable(spec);
  if (!counts) {
    for (std::size_t losses = proof.losses + 1; losses < scheme.dead.size(); ++losses)
      scheme.dead[losses] = 1;
    known.notes.push_back(text(scheme.name, ": assumed to survive at most ", proof.losses,
                               " losses: ", counts.error().message));
    return;
  }
  for (const PatternCount& count : *counts) {
    scheme.dead[count.losses] = static_cast<double>(count.patterns - count.recoverable) /
                                static_cast<double>(count.patterns);
  }
}

}  // namespace

Result<CodeChoice> parse_code(std::string_view text) {
  CodeChoice choice;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) choice.profile = text.substr(0, colon);
  const std::vector<unsigned> numbers =
      parse_sum(colon == std::string_view::npos ? text : text.substr(colon + 1));
  const bool is_lrc = choice.profile == "lrc";
  if (numbers.size() != (is_lrc ? 3U : 2U) || numbers[0] == 0 ||
      numbers[0] > byte_shard_count_max || numbers.back() > byte_shard_count_max) {
    return invalid("code is \"", text, "\"; expected ",
                   is_lrc ? "lrc:k+local+global such as lrc:12+2+2"
                          : "k+m such as 10+4, profile:k+m or lrc:k+local+global");
  }
  choice.data = numbers[0];
  choice.parity = numbers[1] + (is_lrc ? numbers[2] : 0);
  choice.groups = is_lrc ? numbers[1] : 0;
  return choice;
}

std::string name_of(const CodeChoice& choice) {
  if (choice.groups != 0) {
    return text(choice.profile, " ", choice.data, "+", choice.groups, "+",
                choice.parity - choice.groups);
  }
  const std::string profile = choice.profile == "default" ? "" : choice.profile + " ";
  return text(profile, choice.data, "+", choice.parity);
}

Result<KnownCode> know_code(const CodeChoice& choice) {
  KnownCode known;
  known.scheme = mds_scheme(choice.data, choice.parity);
  known.scheme.name = name_of(choice);
  if (choice.parity == 0) return known;
  CALPE_TRY(const CodeSpec spec, spec_of(choice));
  CALPE_TRY(const CodeProof proof, prove(spec));
  if (!proof.proven()) return make_error(ErrorCode::unproven, name_of(choice), ": ", proof.text);
  if (proof.losses >= choice.parity) return known;  // MDS
  set_dead_patterns(known, spec, proof);
  CALPE_TRY(known.scheme.single_reads, mean_reads(spec));
  return known;
}

}  // namespace calpe::durability
