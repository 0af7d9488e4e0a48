// SPDX-License-Identifier: Apache-2.0
// An object store with directories as disks. Each object has 4+2 shards, of which any two may be
// lost. Writes an object, reads it with disks missing, overwrites a part in place, and finds and
// repairs wrong bytes.
//
// usage: object_store DIR     (new or empty)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <calpe/codec.hpp>

namespace {

using Bytes = std::vector<std::byte>;

class Store {
 public:
  Store(calpe::Codec codec, std::filesystem::path root)
      : codec_(std::move(codec)), root_(std::move(root)) {
    for (calpe::ShardIndex disk = 0; disk < shards(); ++disk)
      std::filesystem::create_directories(disk_path(disk));
  }

  std::filesystem::path disk_path(calpe::ShardIndex disk) const {
    return root_ / ("disk" + std::to_string(disk));
  }
  std::filesystem::path path(calpe::ShardIndex disk, const std::string& name) const {
    return disk_path(disk) / name;
  }

  // Stores an object as one stripe; its length must be a multiple of k. A real store would split
  // large objects into stripes of a few MiB, and store their length and codec_.spec() as well.
  calpe::Status put(const std::string& name, const Bytes& object) {
    const std::size_t shard_bytes = (object.size() + data() - 1) / data();
    std::vector<Bytes> stripe(shards(), Bytes(shard_bytes));
    for (std::size_t i = 0; i < object.size(); ++i)
      stripe[i / shard_bytes][i % shard_bytes] = object[i];
    const auto middle = stripe.begin() + data();
    const std::vector<calpe::ConstShard> inputs(stripe.begin(), middle);
    const std::vector<calpe::Shard> outputs(middle, stripe.end());
    if (auto done = codec_.encode(inputs, outputs); !done) return done;
    for (calpe::ShardIndex i = 0; i < shards(); ++i)
      write(i, name, stripe[i]);
    return calpe::Done{};
  }

  // Reads an object. Rebuilds data shards whose disk is missing.
  calpe::Result<Bytes> get(const std::string& name) const {
    std::vector<Bytes> stripe = read_all(name);
    std::vector<calpe::ShardIndex> lost;
    for (calpe::ShardIndex i = 0; i < data(); ++i)
      if (stripe[i].empty()) lost.push_back(i);
    if (auto done = rebuild(stripe, lost); !done) return done.error();
    Bytes object;
    for (calpe::ShardIndex i = 0; i < data(); ++i)
      object.insert(object.end(), stripe[i].begin(), stripe[i].end());
    return object;
  }

  // Overwrites bytes inside one data shard. Reads and writes only that shard and the parity shards.
  calpe::Status overwrite(const std::string& name, calpe::ShardIndex shard, std::size_t offset,
                          const Bytes& bytes) {
    Bytes changed = read(shard, name);
    const Bytes old(changed.begin() + static_cast<std::ptrdiff_t>(offset),
                    changed.begin() + static_cast<std::ptrdiff_t>(offset + bytes.size()));
    std::copy(bytes.begin(), bytes.end(), changed.begin() + static_cast<std::ptrdiff_t>(offset));
    std::vector<Bytes> parity;
    for (calpe::ShardIndex i = data(); i < shards(); ++i)
      parity.push_back(read(i, name));
    const std::vector<calpe::Shard> outputs(parity.begin(), parity.end());
    const calpe::Codec::Change change = {
        .data_index = shard, .offset = offset, .shard_bytes = changed.size()};
    if (auto done = codec_.update(change, old, bytes, outputs); !done) return done;
    // To survive a crash here, a store must write a log first; see docs/adr/0018-array.md.
    write(shard, name, changed);
    for (calpe::ShardIndex i = data(); i < shards(); ++i)
      write(i, name, parity[i - data()]);
    return calpe::Done{};
  }

  // Finds shards with wrong bytes, without checksums, and rewrites them and missing shards. With m
  // shards missing, no redundancy is left to check the others.
  calpe::Result<std::vector<calpe::ShardIndex>> scrub(const std::string& name) {
    std::vector<Bytes> stripe = read_all(name);
    std::vector<calpe::ShardIndex> missing;
    for (calpe::ShardIndex i = 0; i < shards(); ++i)
      if (stripe[i].empty()) missing.push_back(i);
    const std::vector<calpe::ConstShard> all(stripe.begin(), stripe.end());
    calpe::Result<std::vector<calpe::ShardIndex>> wrong = std::vector<calpe::ShardIndex>();
    if (missing.size() < codec_.spec().parity_shards) wrong = codec_.locate(all, missing);
    if (!wrong) return wrong;
    wrong->insert(wrong->end(), missing.begin(), missing.end());
    for (const calpe::ShardIndex i : *wrong)
      stripe[i].clear();
    if (auto done = rebuild(stripe, *wrong); !done) return done.error();
    for (const calpe::ShardIndex i : *wrong)
      write(i, name, stripe[i]);
    return wrong;
  }

 private:
  calpe::ShardIndex data() const {
    return static_cast<calpe::ShardIndex>(codec_.spec().data_shards);
  }
  calpe::ShardIndex shards() const {
    return static_cast<calpe::ShardIndex>(data() + codec_.spec().parity_shards);
  }

  // An empty shard is a lost one.
  calpe::Status rebuild(std::vector<Bytes>& stripe,
                        const std::vector<calpe::ShardIndex>& wanted) const {
    if (wanted.empty()) return calpe::Done{};
    std::vector<calpe::ShardIndex> available;
    std::size_t shard_bytes = 0;
    for (calpe::ShardIndex i = 0; i < shards(); ++i) {
      if (stripe[i].empty()) continue;
      available.push_back(i);
      shard_bytes = stripe[i].size();
    }
    // The codec caches plans, so repeating a loss pattern costs only a lookup.
    auto plan = codec_.plan_decode(available, wanted);
    if (!plan) return plan.error();
    std::vector<calpe::ConstShard> inputs;
    for (const calpe::ShardIndex i : plan->reads())
      inputs.emplace_back(stripe[i]);
    std::vector<calpe::Shard> outputs;
    for (const calpe::ShardIndex i : plan->writes()) {
      stripe[i].resize(shard_bytes);
      outputs.emplace_back(stripe[i]);
    }
    return codec_.decode(*plan, inputs, outputs);
  }

  Bytes read(calpe::ShardIndex disk, const std::string& name) const {
    std::ifstream file(path(disk, name), std::ios::binary | std::ios::ate);
    if (!file) return {};
    Bytes bytes(static_cast<std::size_t>(file.tellg()));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }
  std::vector<Bytes> read_all(const std::string& name) const {
    std::vector<Bytes> stripe;
    for (calpe::ShardIndex i = 0; i < shards(); ++i)
      stripe.push_back(read(i, name));
    return stripe;
  }
  void write(calpe::ShardIndex disk, const std::string& name, const Bytes& bytes) const {
    std::filesystem::create_directories(disk_path(disk));
    std::ofstream file(path(disk, name), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

  calpe::Codec codec_;
  std::filesystem::path root_;
};

template <class Value>
void require(const calpe::Result<Value>& result, const std::string& what) {
  if (result.has_value()) {
    std::printf("%s: ok\n", what.c_str());
    return;
  }
  std::fprintf(stderr, "%s: %s\n", what.c_str(), result.error().message.c_str());
  std::exit(1);
}

template <class Value>
void require_equal(const calpe::Result<Value>& result, const Value& expected,
                   const std::string& what) {
  require(result, what);
  if (*result == expected) return;
  std::fprintf(stderr, "%s: unexpected result\n", what.c_str());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: object_store DIR\n"), 2;
  using Shards = std::vector<calpe::ShardIndex>;
  const auto codec = calpe::Codec::create({.data_shards = 4, .parity_shards = 2});
  require(codec, "codec");
  Store store(*codec, argv[1]);

  Bytes object(400'000);
  for (std::size_t i = 0; i < object.size(); ++i)
    object[i] = static_cast<std::byte>(i * i >> 7U);
  require(store.put("photo", object), "put");
  require_equal(store.get("photo"), object, "get");

  std::filesystem::remove_all(store.disk_path(1));
  std::filesystem::remove_all(store.disk_path(4));
  require_equal(store.get("photo"), object, "get while two disks are lost");
  require_equal(store.scrub("photo"), Shards{1, 4}, "rebuild both");

  const Bytes news(1000, std::byte{42});
  require(store.overwrite("photo", 2, 500, news), "overwrite 1000 bytes");
  std::copy(news.begin(), news.end(), object.begin() + 200'500);
  std::filesystem::remove_all(store.disk_path(2));
  require_equal(store.get("photo"), object, "get them while their disk is lost");
  require_equal(store.scrub("photo"), Shards{2}, "rebuild it");

  std::fstream disk(store.path(3, "photo"), std::ios::in | std::ios::out | std::ios::binary);
  disk.seekp(77).put('?');
  disk.close();
  require_equal(store.scrub("photo"), Shards{3}, "find a wrong byte on disk 3");
  require_equal(store.get("photo"), object, "get");
  return 0;
}
