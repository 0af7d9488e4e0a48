// SPDX-License-Identifier: Apache-2.0
#include "store/read/report.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "store/find/incomplete_sets.hpp"
#include "store/io/names.hpp"

namespace calpe::store {

namespace {

constexpr std::size_t lost_stripes_named_max = 1000;
constexpr std::string_view interrupted = "a change to it was interrupted";

void add_problem(std::string& problem, std::string_view more) {
  if (!problem.empty()) problem += ", ";
  problem += more;
}

std::string problem_of(const ShardHeader& header, const FoundShard& shard, const CopyState& state) {
  std::string problem;
  if (!shard.front_header_good) add_problem(problem, "the header at the front is damaged");
  if (!shard.back_header_good) add_problem(problem, "the header at the end is damaged");
  if (!is_size_good(header, shard)) {
    add_problem(problem,
                text("it has ", shard.file_bytes, " bytes; expected ", shard_file_bytes(header)));
  }
  if (!shard.journal.empty()) add_problem(problem, interrupted);
  if (state.root == RootState::wrong) {
    add_problem(problem, "it does not match its root");
  } else if (state.bad_blocks > 0) {
    add_problem(problem,
                text(state.bad_blocks, " of ", header.stripe_count, " blocks are damaged"));
  }
  if (!state.is_padding_good && is_size_good(header, shard)) {
    add_problem(problem, header.kind == SetKind::originals
                             ? "its checksums or its file list are damaged"
                             : "unused bytes are not 0");
  }
  return problem;
}

ShardState state_of(const OpenSet& files, const Survey& survey, std::size_t index) {
  ShardState state;
  state.index = static_cast<ShardIndex>(index);
  const auto copies = files.copies_of(index);
  if (copies.empty()) {
    state.bad_blocks = files.header().stripe_count;
    state.problem = "missing";
    return state;
  }
  state.path = copies.front().found.path;
  state.headers_good = true;
  state.size_good = true;
  for (const ShardCopy& copy : copies) {
    const FoundShard& found = copy.found;
    const CopyState& looked =
        survey.copies[static_cast<std::size_t>(&copy - files.copies().data())];
    state.headers_good = state.headers_good && found.front_header_good && found.back_header_good;
    state.size_good = state.size_good && is_size_good(files.header(), found);
    state.bad_blocks += looked.bad_blocks;
    state.root = std::max(state.root, looked.root);
    const std::string read_error = files.read_error_of(copy);
    if (state.read_error.empty()) state.read_error = read_error;
    std::string problem = problem_of(files.header(), found, looked);
    if (!read_error.empty()) add_problem(problem, read_error);
    if (problem.empty()) continue;
    // Further copies have no line of their own in the report.
    const bool is_first = &copy == &copies.front();
    add_problem(state.problem, is_first ? problem : text("copy ", found.path, ": ", problem));
  }
  if (has_only_temporary_names(copies)) add_problem(state.problem, "it has a temporary name");
  state.is_only_interrupted = state.problem == interrupted;
  return state;
}

// A restore that demands proof does not use files that their root does not prove. Parity of kept
// originals without good data checksums counts, as it may be the last that has any.
bool counts_as_good(const OpenSet& files, const CopyState& state) {
  if (files.header().kind == SetKind::originals) return state.is_padding_good;
  return files.header().root_kind == RootKind::none || state.root == RootState::good;
}

PlacedCopies placed_copies(const OpenSet& files, const Survey& survey) {
  PlacedCopies placed;
  for (const ShardCopy& copy : files.copies()) {
    placed.places.push_back({copy.index, copy.found.path});
    placed.copies.shards.push_back(copy.index);
  }
  placed.copies.stripes.assign(survey.kinds.begin(), survey.kinds.end());
  for (std::vector<std::uint8_t>& stripe : placed.copies.stripes) {
    for (std::size_t i = 0; i < stripe.size(); ++i) {
      if (!counts_as_good(files, survey.copies[i])) stripe[i] = 0;
    }
  }
  return placed;
}

}  // namespace

bool has_only_temporary_names(std::span<const ShardCopy> copies) noexcept {
  return !copies.empty() && std::all_of(copies.begin(), copies.end(), [](const ShardCopy& copy) {
    return is_temporary(copy.found.path);
  });
}

bool is_size_good(const ShardHeader& header, const FoundShard& shard) noexcept {
  return shard.file_bytes == shard_file_bytes(header);
}

bool is_whole(const ShardHeader& header, const FoundShard& shard, const CopyState& state) noexcept {
  return shard.front_header_good && shard.back_header_good && is_size_good(header, shard) &&
         state.bad_blocks == 0 && state.is_padding_good && state.root != RootState::wrong;
}

Status check_repairable(const Survey& survey, const OpenSet& files) {
  if (!survey.lost.is_empty()) {
    return make_error(ErrorCode::unrecoverable, "too many blocks are missing or damaged in ",
                      to_text(survey.lost), ": fewer than ", files.header().spec.data_shards,
                      " of ", files.shard_count(), " are good", files.read_error_text(),
                      "; nothing was changed");
  }
  if (!survey.contradicting.is_empty()) {
    return make_error(ErrorCode::corrupt,
                      "blocks match their checksums but contradict each other in ",
                      to_text(survey.contradicting), "; nothing was changed");
  }
  return Done{};
}

VerifyReport make_report(const OpenSet& files, const Survey& survey) {
  VerifyReport report;
  report.header = files.header();
  const std::size_t data_shards = report.header.spec.data_shards;
  report.is_list_lost = report.header.kind == SetKind::originals && files.originals() == nullptr;
  for (std::size_t index = 0; index < files.shard_count(); ++index) {
    const bool is_file = report.header.kind == SetKind::shards || index >= data_shards;
    if (is_file) report.shards.push_back(state_of(files, survey, index));
  }
  report.copies = placed_copies(files, survey);
  report.bad_stripes = survey.bad.count();
  report.lost_stripe_count = survey.lost.count();
  report.contradicting_stripes = survey.contradicting.count();
  report.damage = survey.damage;
  for (const StripeRun& run : survey.lost.runs()) {
    for (std::uint64_t stripe = run.first_stripe; stripe < run.end(); ++stripe) {
      if (report.lost_stripes.size() == lost_stripes_named_max) return report;
      report.lost_stripes.push_back(stripe);
    }
  }
  return report;
}

bool VerifyReport::is_good() const noexcept {
  return bad_stripes == 0 && contradicting_stripes == 0 && originals.empty() && !is_list_lost &&
         std::all_of(shards.begin(), shards.end(),
                     [](const ShardState& shard) { return shard.problem.empty(); });
}

bool VerifyReport::is_only_interrupted() const noexcept {
  return !is_good() && bad_stripes == 0 && contradicting_stripes == 0 && originals.empty() &&
         !is_list_lost && std::all_of(shards.begin(), shards.end(), [](const ShardState& shard) {
           return shard.problem.empty() || shard.is_only_interrupted;
         });
}

bool VerifyReport::is_repairable() const noexcept {
  return lost_stripe_count == 0 && contradicting_stripes == 0 && !is_list_lost;
}

}  // namespace calpe::store
