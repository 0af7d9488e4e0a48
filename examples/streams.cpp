// SPDX-License-Identifier: Apache-2.0
// Splits a file of any size into 4+2 shard files and reads it back without two of them. Memory
// stays at a few MiB. Reading, coding and writing run at the same time.
//
// usage: streams FILE DIR     (DIR is new or empty)
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <calpe/streams.hpp>

namespace {

constexpr calpe::StreamOptions options = {.block_bytes = 65'536, .depth = 4};

calpe::Error failed(const std::filesystem::path& path) {
  return {calpe::ErrorCode::io, "cannot read or write " + path.string()};
}

std::filesystem::path shard_path(const std::filesystem::path& folder, std::size_t shard) {
  return folder / ("shard" + std::to_string(shard));
}

// Returns the length of the file. Store it with codec.spec() and the block size: you need all three
// to read the shards.
calpe::Result<std::uint64_t> split_file(const calpe::Codec& codec, const std::string& path,
                                        const std::filesystem::path& folder) {
  std::ifstream source(path, std::ios::binary);
  if (!source) return failed(path);
  std::vector<std::ofstream> files;
  for (std::size_t i = 0; i < 6; ++i)
    files.emplace_back(shard_path(folder, i), std::ios::binary);
  const auto object_bytes = calpe::encode_stream(
      codec, options,
      [&](calpe::Shard to) -> calpe::Result<std::size_t> {
        source.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
        if (source.bad()) return failed(path);
        return static_cast<std::size_t>(source.gcount());  // 0 at the end
      },
      [&](const calpe::StreamStripe& stripe) -> calpe::Status {
        for (std::size_t i = 0; i < stripe.blocks.size(); ++i) {
          files[i].write(reinterpret_cast<const char*>(stripe.blocks[i].data()),
                         static_cast<std::streamsize>(stripe.blocks[i].size()));
          if (!files[i]) return failed(shard_path(folder, i));
        }
        return calpe::Done{};
      });
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i].close();
    if (object_bytes && !files[i]) return failed(shard_path(folder, i));
  }
  return object_bytes;
}

// A shard that is missing or too short counts as lost.
calpe::Status join_file(const calpe::Codec& codec, const std::filesystem::path& folder,
                        std::uint64_t object_bytes, const std::string& path) {
  std::vector<std::ifstream> files;
  for (std::size_t i = 0; i < 6; ++i)
    files.emplace_back(shard_path(folder, i), std::ios::binary);
  std::ofstream target(path, std::ios::binary);
  const auto done = calpe::decode_stream(
      codec, options, object_bytes,
      [&](const calpe::StreamBlock& block, calpe::Shard to) -> calpe::Result<bool> {
        std::ifstream& file = files[block.shard];
        file.seekg(static_cast<std::streamoff>(block.offset));
        file.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
        return file.good();
      },
      [&](calpe::ConstShard bytes) -> calpe::Status {
        target.write(reinterpret_cast<const char*>(bytes.data()),
                     static_cast<std::streamsize>(bytes.size()));
        if (!target) return failed(path);
        return calpe::Done{};
      });
  target.close();
  if (done && !target) return failed(path);
  return done;
}

bool is_equal(const std::string& first, const std::string& second) {
  std::ifstream one(first, std::ios::binary);
  std::ifstream other(second, std::ios::binary);
  for (;;) {
    const int byte = one.get();
    if (byte != other.get()) return false;
    if (byte == std::ifstream::traits_type::eof()) return true;
  }
}

int report(const calpe::Error& error) {
  return std::fprintf(stderr, "%s\n", error.message.c_str()), 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: streams FILE DIR\n"), 2;
  const std::filesystem::path folder = argv[2];
  std::filesystem::create_directories(folder);
  const auto codec = calpe::Codec::create({.data_shards = 4, .parity_shards = 2});
  if (!codec) return report(codec.error());

  const auto object_bytes = split_file(*codec, argv[1], folder);
  if (!object_bytes) return report(object_bytes.error());
  std::printf("split %llu bytes into 6 shards\n", static_cast<unsigned long long>(*object_bytes));

  std::filesystem::remove(shard_path(folder, 1));
  std::filesystem::remove(shard_path(folder, 4));
  const std::string copy = folder / "copy";
  if (const auto done = join_file(*codec, folder, *object_bytes, copy); !done)
    return report(done.error());
  if (!is_equal(argv[1], copy)) return std::puts("wrong bytes"), 1;
  return std::puts("read it back without shards 1 and 4"), 0;
}
