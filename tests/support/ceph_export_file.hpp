// SPDX-License-Identifier: Apache-2.0
// Writes exports like ceph-objectstore-tool 16.2 and 20.2, byte for byte where it matters.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace calpe::tests {

class ExportFile {
 public:
  using Bytes = std::vector<std::byte>;

  // With pool_flags the export contains an OSD map with two pools.
  ExportFile(std::uint64_t pool, std::uint32_t seed, unsigned shard,
             std::optional<std::uint64_t> pool_flags = {})
      : shard_(shard) {
    put(file_, 0xFFCEFFCE, 4);
    put(file_, 2, 4);
    put(file_, 18, 4);
    put(file_, 10, 4);
    Bytes group;
    put(group, 1, 1);
    put(group, pool, 8);
    put(group, seed, 4);
    put(group, 0xFFFFFFFF, 4);
    append(group, structure(Bytes(300, std::byte{7})));
    put(group, shard, 1);
    section(1, structure(group));
    section(9, pool_flags ? metadata(pool, *pool_flags) : Bytes(1000, std::byte{9}));
  }

  struct Object {
    std::string name;
    std::string space = "";
    std::uint64_t snapshot = ~std::uint64_t{1};
    std::uint64_t version = 5;
    std::uint64_t bytes = 0;
    std::uint64_t generation = ~std::uint64_t{0};
    // Writes the object as Ceph 20 does, with a watcher, if not empty.
    std::map<unsigned, std::uint64_t> shard_versions = {};
  };
  // Size of the data pieces in bytes.
  void add(const Object& object, const Bytes& shard, std::size_t piece_bytes = 1 << 20) {
    Bytes name;
    put_string(name, "");
    put_string(name, object.name);
    put(name, object.snapshot, 8);
    put(name, 0xABCD, 4);
    put(name, 0, 1);
    put_string(name, object.space);
    put(name, 3, 8);
    const Bytes name_structure = structure(name);
    Bytes info = name_structure;
    append(info, structure(Bytes(40)));
    put(info, 0, 4);
    put(info, object.version, 8);
    put(info, 29, 4);
    put(info, 4, 8);
    put(info, 28, 4);
    append(info, structure(Bytes(21)));
    put(info, object.bytes, 8);
    const bool is_new = !object.shard_versions.empty();
    append(info, is_new ? end_of_info(object) : Bytes(50, std::byte{1}));
    Bytes begin = name_structure;
    put(begin, object.generation, 8);
    put(begin, shard_, 1);
    append(begin, structure(info, is_new ? 18 : 17));
    section(3, structure(begin));
    for (std::size_t at = 0; at < shard.size(); at += piece_bytes) {
      const std::size_t bytes = std::min(piece_bytes, shard.size() - at);
      Bytes data;
      put(data, at, 8);
      put(data, bytes, 8);
      put(data, bytes, 4);
      const auto from = shard.begin() + static_cast<std::ptrdiff_t>(at);
      data.insert(data.end(), from, from + static_cast<std::ptrdiff_t>(bytes));
      section(5, structure(data));
    }
    section(6, structure(Bytes(60, std::byte{2})));
    section(4, {});
  }
  Bytes end() {
    section(2, {});
    return file_;
  }

 private:
  static void put(Bytes& to, std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i)
      to.push_back(std::byte(value >> (8 * i)));
  }
  static void append(Bytes& to, const Bytes& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  static void put_string(Bytes& to, const std::string& text) {
    put(to, text.size(), 4);
    for (const char c : text)
      to.push_back(static_cast<std::byte>(c));
  }
  static Bytes structure(const Bytes& inside, unsigned version = 1) {
    Bytes out;
    put(out, version, 1);
    put(out, 1, 1);
    put(out, inside.size(), 4);
    append(out, inside);
    return out;
  }
  static Bytes end_of_info(const Object& object) {
    const bool is_head = object.snapshot == ~std::uint64_t{1};
    Bytes out(8);
    if (is_head) {
      append(out, structure(Bytes(21)));
    } else {
      put(out, 1, 4);
      append(out, Bytes(8));
    }
    append(out, Bytes(17));
    for (const unsigned key_bytes : {9U, 17U}) {
      put(out, 1, 4);
      append(out, Bytes(key_bytes, std::byte{3}));
      append(out, structure(Bytes(30, std::byte{4})));
      if (key_bytes == 9) append(out, Bytes(13));
    }
    put(out, is_head ? 0x34 : 0xB4, 4);  // the second has a manifest
    append(out, Bytes(36));
    if (!is_head) append(out, structure(Bytes(11)));
    put(out, object.shard_versions.size(), 4);
    for (const auto& [shard, version] : object.shard_versions) {
      put(out, shard, 1);
      put(out, version, 8);
      put(out, 29, 4);
    }
    return out;
  }
  static Bytes pool(std::uint64_t flags) {
    Bytes out(36);
    put(out, 1, 4);
    put(out, 7, 8);
    append(out, structure(Bytes(20)));  // a snapshot
    put(out, 2, 4);
    append(out, Bytes(32));  // removed snapshots
    append(out, Bytes(8));
    put(out, flags, 8);
    append(out, Bytes(100));
    return structure(out, 32);
  }
  static Bytes metadata(std::uint64_t pool_id, std::uint64_t flags) {
    Bytes clients(36);
    put(clients, 2, 4);
    put(clients, pool_id + 1, 8);
    append(clients, pool(~flags));
    put(clients, pool_id, 8);
    append(clients, pool(flags));
    append(clients, Bytes(70));
    Bytes out(5);
    for (const std::size_t bytes : {50U, 500U, 20U})
      append(out, structure(Bytes(bytes, std::byte{5})));
    append(out, structure(structure(clients, 10), 8));
    append(out, Bytes(8));
    return structure(out, 6);
  }
  void section(std::uint32_t type, const Bytes& payload) {
    Bytes header;
    put(header, type << 24U | type << 16U | 0xFFCEU, 4);
    put(header, payload.size(), 8);
    append(file_, structure(header));
    if (payload.empty()) return;
    append(file_, payload);
    Bytes footer;
    put(footer, 0xECFFFFCE, 4);
    append(file_, structure(footer));
  }

  Bytes file_;
  unsigned shard_;
};

}  // namespace calpe::tests
