// SPDX-License-Identifier: Apache-2.0
#include "ceph/profile.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/divide_up.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::ceph {

namespace {

constexpr std::uint64_t default_chunk_bytes = 4096;  // osd_pool_erasure_code_stripe_unit
constexpr std::uint64_t chunk_bytes_max = std::uint64_t{1} << 30U;
constexpr std::string_view separators = " ,;\t\r\n";
// Plugins round the chunk size up to a multiple of these if no stripe_unit is given.
constexpr std::uint64_t isa_multiple = 32;
constexpr std::uint64_t calpe_multiple = 64;
constexpr std::uint64_t jerasure_vector_bytes = 16;
constexpr std::uint64_t jerasure_int_bytes = 4;

std::string value_of(const CephKeys& keys, const std::string& key, const std::string& otherwise) {
  const auto found = keys.find(key);
  return found == keys.end() || found->second.empty() ? otherwise : found->second;
}

Result<std::uint64_t> number_of(const CephKeys& keys, const std::string& key,
                                const std::string& otherwise, std::uint64_t most) {
  const std::string value = value_of(keys, key, otherwise);
  if (value.empty()) return invalid("the profile has no ", key, "; expected ", key, "=NUMBER");
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, status] = std::from_chars(value.data(), end, number);
  // Accept the units that Ceph accepts for stripe_unit: "16K", "64Ki", "1M".
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  unsigned shift = 0;
  if (unit == "K" || unit == "Ki" || unit == "k") {
    shift = 10;
  } else if (unit == "M" || unit == "Mi") {
    shift = 20;
  }
  const bool is_number = status == std::errc() && (shift != 0 || unit.empty());
  if (!is_number || number == 0 || number > most >> shift) {
    return invalid(key, " is ", value, "; expected a number from 1 to ", most);
  }
  return number << shift;
}

struct Made {
  CodeSpec spec;
  std::uint64_t multiple = 1;  // of the default chunk size
};

Result<Made> isa_code(const CephKeys& keys, CodeSpec spec) {
  const std::string technique = value_of(keys, "technique", "reed_sol_van");
  if (technique != "reed_sol_van" && technique != "cauchy") {
    return invalid("technique is ", technique, "; expected reed_sol_van or cauchy for plugin=isa");
  }
  // With one parity shard the plugin writes plain XOR for every technique.
  const bool is_cauchy = technique == "cauchy" && spec.parity_shards > 1;
  spec.family = is_cauchy ? CodeFamily::cauchy : CodeFamily::vandermonde_isal;
  return Made{spec, isa_multiple};
}

Result<Made> jerasure_code(const CephKeys& keys, CodeSpec spec) {
  const std::string technique = value_of(keys, "technique", "reed_sol_van");
  CALPE_TRY(const std::uint64_t word_bits, number_of(keys, "w", "8", 32));
  if (technique == "reed_sol_van" || technique == "reed_sol_r6_op") {
    if (word_bits != 8) {
      return invalid("w is ", word_bits, " with technique=", technique,
                     "; expected 8; words of 16 or 32 bits are not supported");
    }
    const bool is_raid6 = technique == "reed_sol_r6_op";
    if (is_raid6 && spec.parity_shards != 2)
      return invalid("m is ", spec.parity_shards, "; expected 2 for technique=reed_sol_r6_op");
    spec.family = is_raid6 ? CodeFamily::raid6 : CodeFamily::vandermonde_jerasure;
    return Made{spec, word_bits * jerasure_int_bytes};
  }
  if (technique != "cauchy_orig" && technique != "cauchy_good") {
    return invalid("technique is ", technique,
                   "; expected reed_sol_van, reed_sol_r6_op, cauchy_orig or cauchy_good; other "
                   "techniques are not supported");
  }
  if (word_bits < 2 || word_bits > 8)
    return invalid("w is ", word_bits, " with technique=", technique, "; expected 2 to 8");
  CALPE_TRY(const std::uint64_t packet_bytes, number_of(keys, "packetsize", "2048", 1U << 24U));
  spec.family = technique == "cauchy_good" ? CodeFamily::cauchy_good : CodeFamily::cauchy_orig;
  spec.layout = Layout::packets;
  spec.word_bits = static_cast<std::uint8_t>(word_bits);
  spec.packet_bytes = static_cast<std::uint32_t>(packet_bytes);
  const std::uint64_t group = word_bits * packet_bytes;
  if (value_of(keys, "jerasure-per-chunk-alignment", "false") == "true")
    return Made{spec, std::lcm(group, jerasure_vector_bytes)};
  const bool is_vector = group * jerasure_int_bytes % jerasure_vector_bytes == 0;
  return Made{spec, group * (is_vector ? jerasure_int_bytes : jerasure_vector_bytes)};
}

Result<Made> calpe_code(const CephKeys& keys, CodeSpec spec) {
  CALPE_TRY(const CodeSpec named, find_profile(value_of(keys, "profile", "default")));
  spec.family = named.family;
  spec.layout = named.layout;
  const std::string layout = value_of(keys, "layout", "");
  if (!layout.empty() && layout != "bytes" && layout != "packets")
    return invalid("layout is ", layout, "; expected bytes or packets");
  if (!layout.empty()) spec.layout = layout == "packets" ? Layout::packets : Layout::bytes;
  if (spec.layout == Layout::packets) {
    CALPE_TRY(const std::uint64_t packet_bytes, number_of(keys, "packet_bytes", "512", 1U << 24U));
    spec.packet_bytes = static_cast<std::uint32_t>(packet_bytes);
  }
  if (spec.family == CodeFamily::lrc) {
    CALPE_TRY(const std::uint64_t groups, number_of(keys, "l", "2", byte_shard_count_max));
    spec.local_groups = static_cast<std::uint32_t>(groups);
  }
  const std::uint64_t group = std::uint64_t{spec.word_bits} * spec.packet_bytes;
  return Made{spec, group == 0 ? calpe_multiple : std::lcm(group, calpe_multiple)};
}

Result<Made> code_of_plugin(const CephKeys& keys, const CodeSpec& spec) {
  const std::string plugin = value_of(keys, "plugin", "");
  if (plugin == "isa") return isa_code(keys, spec);
  if (plugin == "jerasure") return jerasure_code(keys, spec);
  if (plugin == "calpe") return calpe_code(keys, spec);
  return invalid("plugin is ", plugin.empty() ? "not given" : plugin,
                 "; expected calpe, isa or jerasure; other plugins are not supported");
}

}  // namespace

Result<CephKeys> parse_ceph_keys(std::string_view text) {
  CephKeys keys;
  while (!text.empty()) {
    const std::size_t start = text.find_first_not_of(separators);
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const std::size_t length = std::min(text.find_first_of(separators), text.size());
    const std::string_view word = text.substr(0, length);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return invalid("the profile has \"", word, "\"; expected KEY=VALUE, such as k=4");
    keys[std::string(word.substr(0, equals))] = word.substr(equals + 1);
    text.remove_prefix(length);
  }
  return keys;
}

Result<CephCode> ceph_code(const CephKeys& keys, std::uint64_t chunk_bytes) {
  if (const std::string mapping = value_of(keys, "mapping", ""); !mapping.empty())
    return invalid("mapping is ", mapping, "; remove it, data shards must come first");
  CALPE_TRY(const std::uint64_t data, number_of(keys, "k", "", byte_shard_count_max));
  CALPE_TRY(const std::uint64_t parity, number_of(keys, "m", "", byte_shard_count_max));
  CodeSpec spec;
  spec.data_shards = static_cast<std::uint32_t>(data);
  spec.parity_shards = static_cast<std::uint32_t>(parity);
  CALPE_TRY(const Made made, code_of_plugin(keys, spec));
  if (chunk_bytes == 0 && keys.contains("stripe_unit")) {
    CALPE_TRY(chunk_bytes, number_of(keys, "stripe_unit", "", chunk_bytes_max));
  }
  if (chunk_bytes == 0) chunk_bytes = round_up(default_chunk_bytes, made.multiple);
  const std::uint64_t group = std::uint64_t{made.spec.word_bits} * made.spec.packet_bytes;
  if (group != 0 && chunk_bytes % group != 0) {
    return invalid("a chunk has ", chunk_bytes, " bytes; expected a multiple of ", group,
                   " (w packets of ", made.spec.packet_bytes, ")");
  }
  return CephCode{made.spec, chunk_bytes};
}

std::vector<std::string> ceph_names(std::string_view profile, const CodeSpec& spec) {
  std::vector<std::string> names;
  if (profile == "default") return names;  // an alias; its target is listed as well
  const bool is_packets = spec.layout == Layout::packets;
  const std::string packets =
      text(" w=", unsigned{spec.word_bits}, " packetsize=", spec.packet_bytes);
  if (!is_packets && profile == "cauchy" && spec.parity_shards > 1)
    names.emplace_back("plugin=isa technique=cauchy");
  if (!is_packets && profile == "vandermonde-isal")
    names.emplace_back(spec.parity_shards > 1 ? "plugin=isa technique=reed_sol_van" : "plugin=isa");
  if (!is_packets && profile == "vandermonde-jerasure")
    names.emplace_back("plugin=jerasure technique=reed_sol_van w=8");
  if (!is_packets && profile == "raid6")
    names.emplace_back("plugin=jerasure technique=reed_sol_r6_op w=8");
  if (is_packets && profile == "cauchy-orig")
    names.push_back(text("plugin=jerasure technique=cauchy_orig", packets));
  if (is_packets && profile == "cauchy-good")
    names.push_back(text("plugin=jerasure technique=cauchy_good", packets));
  if (spec.word_bits == 8) {
    names.push_back(is_packets ? text("plugin=calpe profile=", profile,
                                      " layout=packets packet_bytes=", spec.packet_bytes)
                               : text("plugin=calpe profile=", profile));
  }
  return names;
}

}  // namespace calpe::ceph
