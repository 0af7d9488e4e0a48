// SPDX-License-Identifier: Apache-2.0
#include "array/state/codec_cache.hpp"

#include <mutex>
#include <vector>

#include "base/try.hpp"

namespace calpe::array {

namespace {

struct Known {
  CodeSpec spec;
  Codec codec;
};

constexpr std::size_t known_most = 8;

}  // namespace

Result<Codec> codec_for(const CodeSpec& spec) {
  static std::mutex mutex;
  static std::vector<Known> all;  // oldest first
  const std::lock_guard lock(mutex);
  for (const Known& known : all) {
    if (known.spec == spec) return known.codec;
  }
  CALPE_TRY(const Codec codec, Codec::create(spec));
  if (all.size() == known_most) all.erase(all.begin());
  all.push_back({spec, codec});
  return codec;
}

}  // namespace calpe::array
