// SPDX-License-Identifier: Apache-2.0
// Loses and rebuilds a shard, using only the installed headers and library.
#include <array>
#include <cstddef>
#include <cstdio>

#include <calpe/codec.hpp>
#include <calpe/galois.hpp>

namespace {
using Bytes = std::array<std::byte, 1000>;

int fail(const char* step, const calpe::Error& error) {
  std::fprintf(stderr, "outside: %s: %s\n", step, error.message.c_str());
  return 1;
}
}  // namespace

int main() {
  const auto codec = calpe::Codec::create({.data_shards = 2, .parity_shards = 1});
  if (!codec) return fail("create", codec.error());

  Bytes first{}, second{}, parity{}, rebuilt{};
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = static_cast<std::byte>(i);
    second[i] = static_cast<std::byte>(i * 7 + 3);
  }
  const std::array<calpe::ConstShard, 2> data{first, second};
  const std::array<calpe::Shard, 1> parities{parity};
  if (const auto done = codec->encode(data, parities); !done) return fail("encode", done.error());

  const std::array<calpe::ShardIndex, 2> available{0, 2};
  const std::array<calpe::ShardIndex, 1> wanted{1};
  const auto plan = codec->plan_decode(available, wanted);
  if (!plan) return fail("plan_decode", plan.error());
  const std::array<calpe::ConstShard, 2> survivors{first, parity};
  const std::array<calpe::Shard, 1> outputs{rebuilt};
  if (const auto done = codec->decode(*plan, survivors, outputs); !done) {
    return fail("decode", done.error());
  }

  const auto field = calpe::GaloisField::create();
  if (!field) return fail("field", field.error());
  std::printf("calpe %s on %s: %s\n", calpe::version().data(), codec->backend().data(),
              rebuilt == second ? "rebuilt" : "wrong bytes");
  return rebuilt == second ? 0 : 1;
}
