// SPDX-License-Identifier: Apache-2.0
// Formats the results of a survey.
#pragma once
#include "store/read/survey.hpp"
#include "store/read/verify_set.hpp"

namespace calpe::store {

bool is_size_good(const ShardHeader& header, const FoundShard& shard) noexcept;
bool has_only_temporary_names(std::span<const ShardCopy> copies) noexcept;
bool is_whole(const ShardHeader& header, const FoundShard& shard, const CopyState& state) noexcept;
// Fails with unrecoverable and names the stripes, or with corrupt when blocks contradict each
// other.
Status check_repairable(const Survey& survey, const OpenSet& files);
VerifyReport make_report(const OpenSet& files, const Survey& survey);

}  // namespace calpe::store
