// SPDX-License-Identifier: Apache-2.0
#include "engine/run/shard_lengths.hpp"

#include "base/text.hpp"
#include "code/spec_rules.hpp"

namespace calpe::engine {

std::size_t length_multiple(const CodeSpec& spec) noexcept {
  if (!code::copies_jerasure_packets(spec.family)) return 1;
  return std::size_t{spec.word_bits} * spec.packet_bytes;
}

namespace {

// "data[3] has 4095 bytes", or "shard_bytes is 4095" for a number.
std::string length_text(const ShardName& name, std::size_t bytes) {
  return name.index == no_index ? text(name, " is ", bytes) : text(name, " has ", bytes, " bytes");
}

const char* layout_text(const CodeSpec& spec) {
  return spec.layout == Layout::packets ? " with layout packets" : " with word_bits 16";
}

}  // namespace

Error LengthCheck::differs(const Seen& shard, const Seen& first) {
  return invalid(length_text(shard.name, shard.bytes), "; expected ", first.bytes, " like ",
                 first.name);
}

Result<ShardLengths> LengthCheck::finish() const {
  for (const auto* const seen : {&data_, &parity_}) {
    if (*seen && (*seen)->bytes > shard_bytes_max) {
      return invalid(length_text((*seen)->name, (*seen)->bytes), "; expected at most ",
                     shard_bytes_max);
    }
  }
  if (!data_ && !parity_) return ShardLengths{};
  ShardLengths lengths;
  if (data_) {
    lengths = {.data = data_->bytes, .parity = parity_length(spec_, data_->bytes)};
    if (parity_ && parity_->bytes != lengths.parity) {
      return invalid(length_text(parity_->name, parity_->bytes), "; expected ", lengths.parity,
                     " for data shards of ", data_->bytes, " bytes", layout_text(spec_));
    }
  } else {
    if (parity_->bytes % unit_count(spec_) != 0) {
      return invalid(length_text(parity_->name, parity_->bytes), "; expected a multiple of ",
                     unit_count(spec_), layout_text(spec_));
    }
    lengths = {.data = parity_->bytes, .parity = parity_->bytes};
  }
  if (const std::size_t multiple = length_multiple(spec_); lengths.data % multiple != 0) {
    return invalid(length_text((data_ ? data_ : parity_)->name, lengths.data),
                   "; expected a multiple of ", multiple, " as Jerasure does");
  }
  return lengths;
}

}  // namespace calpe::engine
