// SPDX-License-Identifier: Apache-2.0
#include "fuzz/ceph_keys.hpp"

#include "ceph/profile.hpp"
#include "fuzz/property.hpp"

namespace calpe::fuzz {

KeysResult read_keys(std::string_view text) {
  KeysResult result;
  const auto keys = ceph::parse_ceph_keys(text);
  if (!keys) {
    require(keys.error().code == ErrorCode::invalid_argument, "bad keys are an invalid argument");
    return result;
  }
  result.is_read = true;
  result.keys = *keys;
  const auto code = ceph::ceph_code(*keys);
  if (!code) {
    require(code.error().code == ErrorCode::invalid_argument, "a bad code is an invalid argument");
    return result;
  }
  const CodeSpec& spec = code->spec;
  require(spec.data_shards >= 1 && spec.data_shards <= 256, "k is in range");
  require(spec.parity_shards >= 1 && spec.parity_shards <= 256, "m is in range");
  require(code->chunk_bytes != 0, "a chunk has bytes");
  const std::uint64_t group = std::uint64_t{spec.word_bits} * spec.packet_bytes;
  require(group == 0 || code->chunk_bytes % group == 0, "a chunk is whole groups of packets");
  const auto plugin = keys->find("plugin");
  result.has_code = true;
  result.is_calpe = plugin != keys->end() && plugin->second == "calpe";
  result.family = static_cast<std::uint32_t>(spec.family);
  result.data_shards = spec.data_shards;
  result.parity_shards = spec.parity_shards;
  return result;
}

}  // namespace calpe::fuzz
