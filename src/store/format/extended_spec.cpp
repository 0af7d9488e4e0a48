// SPDX-License-Identifier: Apache-2.0
#include "store/format/extended_spec.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <calpe/codec.hpp>

#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::store {

Result<std::optional<CodeSpec>> extended_spec(const CodeSpec& spec, unsigned parity_shards) {
  return guarded([&]() -> Result<std::optional<CodeSpec>> {
    const unsigned most = static_cast<unsigned>(byte_shard_count_max) - spec.data_shards;
    if (parity_shards <= spec.parity_shards || parity_shards > most) {
      return invalid("parity is ", parity_shards, "; expected ", spec.parity_shards + 1, " to ",
                     most, ": the set has ", spec.data_shards, "+", spec.parity_shards);
    }
    CodeSpec extended = spec;
    extended.parity_shards = parity_shards;
    extended.matrix_hash = 0;
    CALPE_TRY(const std::vector<std::uint16_t> before, parity_rows(spec));
    CALPE_TRY(const std::vector<std::uint16_t> after, parity_rows(extended));
    if (!std::equal(before.begin(), before.end(), after.begin())) return std::optional<CodeSpec>();
    CALPE_TRY(const Codec codec, Codec::create(extended));
    return std::optional<CodeSpec>(codec.spec());
  });
}

}  // namespace calpe::store
