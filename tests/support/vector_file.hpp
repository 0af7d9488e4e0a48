// SPDX-License-Identifier: Apache-2.0
// Golden vectors in tests/vectors/*.json; tests/vectors/README.md describes the fields.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <calpe/code_spec.hpp>

namespace calpe::tests {

using Json = nlohmann::ordered_json;

// Parity for data shards of shard_bytes bytes from formula_byte.
struct GoldenStripe {
  std::size_t shard_bytes = 0;
  std::vector<std::string> parity;  // hex, one per parity shard
};

struct GoldenVector {
  std::string profile;                     // or "custom"
  CodeSpec spec;                           // resolved
  std::vector<std::uint16_t> parity_rows;  // m x k, row-major
  std::vector<GoldenStripe> stripes;
};

template <class Bytes>
std::string to_hex(const Bytes& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  for (const auto byte : bytes) {
    const auto value = static_cast<unsigned>(byte);
    hex += digits[value >> 4 & 15];
    hex += digits[value & 15];
  }
  return hex;
}

inline std::vector<std::uint16_t> from_hex(const std::string& hex) {
  std::vector<std::uint16_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint16_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline Json to_json(const GoldenVector& vector) {
  const CodeSpec& spec = vector.spec;
  Json json;
  json["profile"] = vector.profile;
  json["layout"] = spec.layout == Layout::bytes ? "bytes" : "packets";
  json["data_shards"] = spec.data_shards;
  json["parity_shards"] = spec.parity_shards;
  json["word_bits"] = spec.word_bits;
  json["polynomial"] = spec.polynomial;
  json["packet_bytes"] = spec.packet_bytes;
  json["local_groups"] = spec.local_groups;
  std::vector<std::uint8_t> hash;  // most significant byte first
  for (int shift = 56; shift >= 0; shift -= 8)
    hash.push_back(static_cast<std::uint8_t>(spec.matrix_hash >> shift));
  json["matrix_hash"] = to_hex(hash);
  Json& rows = json["parity_rows"] = Json::array();
  for (std::size_t i = 0; i < spec.parity_shards; ++i) {
    const auto row = vector.parity_rows.begin() + static_cast<std::ptrdiff_t>(i * spec.data_shards);
    rows.push_back(to_hex(std::vector<std::uint16_t>(row, row + spec.data_shards)));
  }
  Json& stripes = json["stripes"] = Json::array();
  for (const GoldenStripe& stripe : vector.stripes)
    stripes.push_back({{"shard_bytes", stripe.shard_bytes}, {"parity", stripe.parity}});
  return json;
}

inline GoldenVector from_json(const Json& json) {
  GoldenVector vector;
  vector.profile = json.at("profile");
  vector.spec.family = CodeFamily::custom;
  if (vector.profile != "custom") {
    const auto found = find_profile(vector.profile);
    if (!found) throw std::runtime_error(found.error().message);
    vector.spec.family = found->family;
  }
  vector.spec.layout = json.at("layout") == "bytes" ? Layout::bytes : Layout::packets;
  vector.spec.data_shards = json.at("data_shards");
  vector.spec.parity_shards = json.at("parity_shards");
  vector.spec.word_bits = json.at("word_bits");
  vector.spec.polynomial = json.at("polynomial");
  vector.spec.packet_bytes = json.at("packet_bytes");
  vector.spec.local_groups = json.at("local_groups");
  vector.spec.matrix_hash = std::stoull(std::string(json.at("matrix_hash")), nullptr, 16);
  for (const Json& row : json.at("parity_rows")) {
    const auto cells = from_hex(row);
    vector.parity_rows.insert(vector.parity_rows.end(), cells.begin(), cells.end());
  }
  for (const Json& stripe : json.at("stripes"))
    vector.stripes.push_back(
        {.shard_bytes = stripe.at("shard_bytes"), .parity = stripe.at("parity")});
  return vector;
}

inline Json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return Json::parse(file);
}

}  // namespace calpe::tests
