// SPDX-License-Identifier: Apache-2.0
#include "ceph/identify_profile.hpp"

#include <algorithm>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::ceph {

namespace {

// Tries parts that hold whole groups of every usual packet size first, then smaller parts, of which
// a small object also has sound ones.
constexpr std::size_t part_sizes[] = {std::size_t{64} << 10U, std::size_t{4} << 10U};
constexpr std::size_t parts_max = 32;

Result<store::Identification> identify_parts(const CephShards& shards,
                                             const store::IdentifyOptions& options) {
  std::vector<ConstShard> whole;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (!shards[s]) {
      return make_error(ErrorCode::ambiguous, "shard ", s,
                        " is missing; identifying a code needs all shards");
    }
    whole.emplace_back(*shards[s]);
    if (whole[s].size() != whole[0].size()) {
      return make_error(ErrorCode::ambiguous, "shard ", s, " has ", whole[s].size(),
                        " bytes; expected ", whole[0].size(), " like shard 0");
    }
  }
  const std::size_t bytes = whole.empty() ? 0 : whole[0].size();
  std::optional<Error> first;
  for (const std::size_t part_bytes : part_sizes) {
    for (std::size_t part = 0; part < parts_max; ++part) {
      const std::size_t at = part * part_bytes;
      if (at >= bytes && at != 0) break;
      std::vector<ConstShard> parts;
      parts.reserve(whole.size());
      for (const ConstShard shard : whole)
        parts.push_back(shard.subspan(at, std::min(part_bytes, bytes - at)));
      Result<store::Identification> found = store::identify(parts, options);
      if (found || found.error().code == ErrorCode::invalid_argument) return found;
      if (!first) first = found.error();
    }
  }
  return *first;
}

}  // namespace

Result<store::Identification> identify_object(const CephShards& shards,
                                              const store::IdentifyOptions& options) {
  return guarded([&] { return identify_parts(shards, options); });
}

Result<Codec> codec_of(const store::Identification& found) {
  if (found.spec.family != CodeFamily::custom) return Codec::create(found.spec);
  return Codec::create_from_matrix(found.spec, found.rows, {.allow_unproven = true});
}

}  // namespace calpe::ceph
