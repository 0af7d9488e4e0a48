// SPDX-License-Identifier: Apache-2.0
#include "ceph/shard_erasure_code.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "ceph/chunk_buffers.hpp"

namespace calpe_ceph {

namespace {

using ceph::bufferlist;
using ceph::bufferptr;
using ceph::ShardBuffers;
using ceph::ShardLists;

using Inputs = std::array<const void*, shards_max>;
using Outputs = std::array<void*, shards_max>;

// Bits of ErasureCodeInterface::plugin_flags.
struct Optimization {
  std::uint64_t bit;
  const char* name;
};
constexpr Optimization partial_read{1u << 0, "partialread"};
constexpr Optimization partial_write{1u << 1, "partialwrite"};
constexpr Optimization zeros_give_zeros{1u << 2, "zeroinout"};
constexpr Optimization parity_delta{1u << 4, "paritydelta"};
constexpr Optimization optimized_pool{1u << 6, "optimizedsupport"};
constexpr std::array optimizations{partial_read, partial_write, zeros_give_zeros, parity_delta,
                                   optimized_pool};

std::set<int> ints_of(ShardMask shards) {
  std::set<int> ints;
  for (unsigned shard = 0; shard < shards_max; ++shard) {
    if ((shards >> shard & 1) != 0) ints.insert(ints.end(), static_cast<int>(shard));
  }
  return ints;
}

// The shards of a set that a code of chunk_count chunks has.
ShardMask shards_of(const shard_id_set& shards, unsigned chunk_count) {
  return static_cast<ShardMask>(shards.first_word()) & first_shards(chunk_count);
}
template <class Value>
ShardMask shards_of(const shard_id_map<Value>& values, unsigned chunk_count) {
  ShardMask mask = 0;
  for (unsigned shard = 0; shard < chunk_count; ++shard)
    mask |= static_cast<ShardMask>(values.has(shard)) << shard;
  return mask;
}

// The buffers of one call, which must have one length and not be empty.
class EqualBuffers {
 public:
  bool add(const bufferptr& buffer) {
    if (bytes_ == 0) bytes_ = buffer.length();
    return buffer.length() == bytes_ && bytes_ != 0;
  }
  unsigned bytes() const { return bytes_; }

 private:
  unsigned bytes_ = 0;
};

// A code whose only parity is the XOR of two data shards: the difference of old and new data.
const calpe_codec* difference_codec() {
  static calpe_codec* const codec = [] {
    calpe_spec spec = CALPE_SPEC_INIT;
    spec.data_shards = 2;
    spec.parity_shards = 1;
    calpe_codec* made = nullptr;
    calpe_error error = {};
    if (calpe_codec_create(&spec, nullptr, &made, &error) != CALPE_OK) {
      throw std::runtime_error(error.message);
    }
    return made;
  }();
  return codec;
}

[[noreturn]] void stop(const char* function, const char* reason) {
  throw std::runtime_error(std::string("calpe: ") + function + ": " + reason);
}

}  // namespace

int ShardErasureCode::minimum_to_decode(const shard_id_set& want, const shard_id_set& available,
                                        shard_id_set& minimum, ceph::ShardSubChunks* sub_chunks) {
  const unsigned chunk_count = get_chunk_count();
  ShardMask reads = 0;
  if (const int status =
          find_reads(shards_of(want, chunk_count), shards_of(available, chunk_count), reads)) {
    return status;
  }
  for (unsigned shard = 0; shard < chunk_count; ++shard) {
    if ((reads >> shard & 1) == 0) continue;
    minimum.insert(shard);
    if (sub_chunks != nullptr) sub_chunks->put(shard) = {{0, get_sub_chunk_count()}};
  }
  return 0;
}

int ShardErasureCode::minimum_to_decode_with_cost(const shard_id_set& want,
                                                  const shard_id_map<int>& available,
                                                  shard_id_set* minimum) {
  const unsigned chunk_count = get_chunk_count();
  std::map<int, int> costs;
  for (unsigned shard = 0; shard < chunk_count; ++shard) {
    if (available.has(shard)) costs.emplace(static_cast<int>(shard), available.at(shard));
  }
  std::set<int> reads;
  const int status =
      minimum_to_decode_with_cost(ints_of(shards_of(want, chunk_count)), costs, &reads);
  for (const int shard : reads)
    minimum->insert(static_cast<unsigned>(shard));
  return status;
}

std::size_t ShardErasureCode::get_minimum_granularity() {
  const calpe_spec& spec = code().spec();
  return spec.layout == CALPE_LAYOUT_PACKETS ? std::size_t{spec.word_bits} * spec.packet_bytes : 1;
}

int ShardErasureCode::encode(const shard_id_set& want, const bufferlist& in, ShardLists* encoded) {
  ceph::Chunks chunks;
  const int status = encode(ints_of(shards_of(want, get_chunk_count())), in, &chunks);
  for (auto& [shard, list] : chunks)
    encoded->put(static_cast<unsigned>(shard)) = std::move(list);
  return status;
}

int ShardErasureCode::encode_chunks(const ShardBuffers& in, ShardBuffers& out) {
  const unsigned data_count = get_data_chunk_count(), chunk_count = get_chunk_count();
  EqualBuffers lengths;
  Inputs inputs{};
  Outputs outputs{};
  std::size_t input_count = 0, output_count = 0;
  ShardMask data = 0, parity = 0;
  for (unsigned shard = 0; shard < data_count; ++shard) {
    if (!in.has(shard)) continue;
    if (!lengths.add(in.at(shard))) return -EINVAL;
    data |= ShardMask{1} << shard;
    inputs[input_count++] = in.at(shard).c_str();
  }
  for (unsigned shard = data_count; shard < chunk_count; ++shard) {
    if (!out.has(shard)) continue;
    if (!lengths.add(out.at(shard))) return -EINVAL;
    parity |= ShardMask{1} << shard;
    outputs[output_count++] = out.at(shard).c_str();
  }
  const unsigned bytes = lengths.bytes();
  if (output_count == 0) return 0;
  calpe_status status = CALPE_OK;
  if (input_count == data_count && output_count == chunk_count - data_count) {
    status = calpe_encode(code().codec(), inputs.data(), outputs.data(), bytes, nullptr);
  } else if (const auto plan = code().find_contribution(data, parity)) {
    for (std::size_t i = 0; i < plan->read_count(); ++i)
      inputs[i] = in.at(plan->read(i)).c_str();
    status = calpe_run(code().codec(), plan->handle(), inputs.data(), outputs.data(), bytes,
                       CALPE_RUN_CACHED, nullptr);
  } else {
    for (std::size_t i = 0; i < output_count; ++i)
      std::memset(outputs[i], 0, bytes);
  }
  return status == CALPE_OK ? 0 : -EIO;
}

void ShardErasureCode::encode_delta(const bufferptr& before, const bufferptr& after,
                                    bufferptr* delta) {
  const unsigned bytes = delta->length();
  if (before.length() != bytes || after.length() != bytes) stop("encode_delta", "lengths differ");
  const Inputs inputs{before.c_str(), after.c_str()};
  void* const output = delta->c_str();
  calpe_error error = {};
  const calpe_status status =
      output == inputs[0] ? calpe_add(output, inputs[1], bytes, &error)
                          : calpe_encode(difference_codec(), inputs.data(), &output, bytes, &error);
  if (status != CALPE_OK) stop("encode_delta", error.message);
}

void ShardErasureCode::apply_delta(const ShardBuffers& in, ShardBuffers& out) {
  const unsigned data_count = get_data_chunk_count(), chunk_count = get_chunk_count();
  EqualBuffers lengths;
  Inputs inputs{};
  Outputs outputs{};
  ShardMask data = 0, parity = 0;
  std::size_t output_count = 0;
  for (unsigned shard = 0; shard < data_count; ++shard) {
    if (!in.has(shard) || in.at(shard).length() == 0) continue;
    if (!lengths.add(in.at(shard))) stop("apply_delta", "lengths differ");
    data |= ShardMask{1} << shard;
  }
  for (unsigned shard = data_count; shard < chunk_count; ++shard) {
    if (!out.has(shard)) continue;
    if (!lengths.add(out.at(shard))) stop("apply_delta", "lengths differ");
    parity |= ShardMask{1} << shard;
    outputs[output_count++] = out.at(shard).c_str();
  }
  if (data == 0 || parity == 0) return;
  const auto plan = code().find_contribution(data, parity);
  if (plan == nullptr) return;
  for (std::size_t i = 0; i < plan->read_count(); ++i)
    inputs[i] = in.at(plan->read(i)).c_str();
  calpe_error error = {};
  if (calpe_run(code().codec(), plan->handle(), inputs.data(), outputs.data(), lengths.bytes(),
                CALPE_RUN_ACCUMULATE | CALPE_RUN_CACHED, &error) != CALPE_OK) {
    stop("apply_delta", error.message);
  }
}

int ShardErasureCode::decode(const shard_id_set& want, const ShardLists& chunks,
                             ShardLists* decoded, int chunk_bytes) {
  const unsigned chunk_count = get_chunk_count();
  ceph::Chunks from, to;
  for (unsigned shard = 0; shard < chunk_count; ++shard) {
    if (chunks.has(shard)) from.emplace(static_cast<int>(shard), chunks.at(shard));
  }
  const int status = decode(ints_of(shards_of(want, chunk_count)), from, &to, chunk_bytes);
  for (auto& [shard, list] : to)
    decoded->put(static_cast<unsigned>(shard)) = std::move(list);
  return status;
}

int ShardErasureCode::decode_chunks(const shard_id_set& /*want*/, ShardBuffers& in,
                                    ShardBuffers& out) {
  const unsigned chunk_count = get_chunk_count();
  const ShardMask wanted = shards_of(out, chunk_count);
  if (wanted == 0) return 0;
  const auto plan = code().find_plan(shards_of(in, chunk_count) & ~wanted, wanted);
  if (plan == nullptr) return -EIO;
  EqualBuffers lengths;
  Inputs inputs{};
  Outputs outputs{};
  for (std::size_t i = 0; i < plan->read_count(); ++i) {
    const bufferptr& buffer = in.at(plan->read(i));
    if (!lengths.add(buffer)) return -EINVAL;
    inputs[i] = buffer.c_str();
  }
  for (std::size_t i = 0; i < plan->write_count(); ++i) {
    bufferptr& buffer = out.at(plan->write(i));
    if (!lengths.add(buffer)) return -EINVAL;
    outputs[i] = buffer.c_str();
  }
  const calpe_status status = calpe_run(code().codec(), plan->handle(), inputs.data(),
                                        outputs.data(), lengths.bytes(), CALPE_RUN_CACHED, nullptr);
  return status == CALPE_OK ? 0 : -EIO;
}

int ShardErasureCode::decode_concat(const std::set<int>& want, const ceph::Chunks& chunks,
                                    bufferlist* decoded) {
  ceph::Chunks rebuilt;
  if (const int status = decode(want, chunks, &rebuilt, 0)) return status;
  for (const int shard : want)
    decoded->claim_append(rebuilt[shard]);
  return 0;
}

std::uint64_t ShardErasureCode::get_supported_optimizations() const {
  std::uint64_t bits = partial_read.bit | zeros_give_zeros.bit;
  if (code().spec().layout == CALPE_LAYOUT_BYTES) {
    bits |= partial_write.bit | parity_delta.bit;
    if (code().is_mds()) bits |= optimized_pool.bit;
  }
  return bits;
}

std::string ShardErasureCode::get_optimizations_flags_string() const {
  std::string names;
  for (const Optimization& optimization : optimizations) {
    if ((get_supported_optimizations() & optimization.bit) == 0) continue;
    if (!names.empty()) names += ",";
    names += optimization.name;
  }
  return names;
}

}  // namespace calpe_ceph
