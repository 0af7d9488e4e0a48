// SPDX-License-Identifier: Apache-2.0
#include "engine/run/shard_lengths.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "code/spec_rules.hpp"

namespace calpe::engine {

std::size_t length_multiple(const CodeSpec& spec) noexcept {
  if (!code::copies_jerasure_packets(spec.family)) return 1;
  return std::size_t{spec.word_bits} * spec.packet_bytes;
}

Error LengthCheck::differs(std::size_t bytes, std::size_t expected, const char* operand,
                           std::size_t position) {
  return invalid(operand, "[", position, "] has ", bytes, " bytes; expected ", expected);
}

Result<ShardLengths> LengthCheck::finish() const {
  ShardLengths lengths;
  if (const std::size_t most = std::max(data_.value_or(0), parity_.value_or(0));
      most > shard_bytes_max) {
    return invalid("shards have ", most, " bytes; expected at most ", shard_bytes_max);
  }
  if (data_) {
    lengths = {.data = *data_, .parity = parity_length(spec_, *data_)};
    if (parity_ && *parity_ != lengths.parity) {
      return invalid("parity shards have ", *parity_, " bytes; expected ", lengths.parity,
                     " for data shards of ", *data_, " bytes with layout packets");
    }
  } else if (parity_) {
    if (*parity_ % spec_.word_bits != 0) {
      return invalid("parity shards have ", *parity_, " bytes; expected a multiple of ",
                     spec_.word_bits, " with layout packets");
    }
    lengths = {.data = *parity_, .parity = *parity_};
  }
  if (const std::size_t multiple = length_multiple(spec_); lengths.data % multiple != 0) {
    return invalid("shards have ", lengths.data, " bytes; expected a multiple of ", multiple,
                   " as Jerasure does");
  }
  return lengths;
}

}  // namespace calpe::engine
