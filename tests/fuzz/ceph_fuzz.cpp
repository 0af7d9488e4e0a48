// SPDX-License-Identifier: Apache-2.0
// Arbitrary profiles of Ceph pools, "k=4 m=2 profile=cauchy": the plugin refuses with -EINVAL and a
// reason, or has a spec that the library accepts or refuses with a message. The profile it writes
// back gives the same spec. The store's reader of the same keys, for `calpe ceph-scrub`, agrees
// with it.
#include <cerrno>
#include <map>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "ceph/settings.hpp"
#include "fuzz/ceph_keys.hpp"
#include "fuzz/property.hpp"

namespace calpe::fuzz {

namespace {

using calpe_ceph::Settings;
using ceph::ErasureCodeProfile;

bool same(const calpe_spec& a, const calpe_spec& b) {
  return a.family == b.family && a.layout == b.layout && a.data_shards == b.data_shards &&
         a.parity_shards == b.parity_shards && a.packet_bytes == b.packet_bytes &&
         a.local_groups == b.local_groups;
}

// Resolves the spec, if such a code exists.
bool make(const calpe_spec& spec, calpe_spec& resolved) {
  calpe_codec* codec = nullptr;
  calpe_error error;
  const calpe_status status = calpe_codec_create(&spec, nullptr, &codec, &error);
  if (status != CALPE_OK) {
    require(status == CALPE_ERROR_INVALID_ARGUMENT || status == CALPE_ERROR_UNPROVEN,
            "a refused spec is invalid, or not MDS");
    return false;
  }
  resolved = calpe_spec{};
  resolved.struct_size = sizeof resolved;
  calpe_codec_spec(codec, &resolved);
  calpe_codec_destroy(codec);
  return true;
}

// The same with a cache: making a code takes longest, and most profiles repeat.
enum class Known { code, no_code, unasked };
Known resolve(const calpe_spec& spec, calpe_spec& resolved) {
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                         std::uint32_t>;
  static std::map<Key, std::pair<bool, calpe_spec>> seen;
  constexpr std::size_t seen_most = 3000;
  const Key key = {spec.family,        spec.layout,       spec.data_shards,
                   spec.parity_shards, spec.packet_bytes, spec.local_groups};
  auto found = seen.find(key);
  if (found == seen.end()) {
    if (seen.size() >= seen_most) return Known::unasked;
    found = seen.emplace(key, std::pair<bool, calpe_spec>()).first;
    found->second.first = make(spec, found->second.second);
  }
  resolved = found->second.second;
  return found->second.first ? Known::code : Known::no_code;
}

void check_accepted(ErasureCodeProfile profile, const Settings& settings) {
  const calpe_spec& spec = settings.spec;
  require(spec.data_shards >= 2 && spec.parity_shards >= 1, "k and m are in range");
  require(spec.data_shards + spec.parity_shards <= calpe_ceph::shards_max,
          "k + m is at most the limit");
  require(!settings.backend.empty(), "a backend");
  for (const char* key : {"k", "m", "backend", "crush-root", "crush-failure-domain"})
    require(!profile.at(key).empty(), "defaults are written back");
  calpe_spec resolved = {};
  // The search for points takes milliseconds; its keys are read like all others.
  if (spec.family == CALPE_FAMILY_HYBRID_GOOD || spec.data_shards > 6) return;
  if (resolve(spec, resolved) != Known::code) return;
  calpe_ceph::write_spec(resolved, profile);
  Settings again;
  std::ostringstream errors;
  require(calpe_ceph::read_settings(profile, again, errors) == 0,
          "a profile written back can be read");
  calpe_spec twice = {};
  const Known known = resolve(again.spec, twice);
  require(known != Known::no_code, "a profile written back is a code");
  require(known == Known::unasked || same(twice, resolved), "the same");
}

void run(std::string_view text) {
  const KeysResult keys = read_keys(text);
  if (!keys.is_read) return;
  ErasureCodeProfile profile = keys.keys;
  Settings settings;
  std::ostringstream errors;
  const int status = calpe_ceph::read_settings(profile, settings, errors);
  require(status == 0 || status == -EINVAL, "0 or -EINVAL");
  require((status != 0) == !errors.str().empty(), "refused with a reason");
  if (status != 0) return;
  if (keys.has_code && keys.is_calpe) {
    require(keys.family == settings.spec.family && keys.data_shards == settings.spec.data_shards &&
                keys.parity_shards == settings.spec.parity_shards,
            "the store reads the same code");
  }
  check_accepted(std::move(profile), settings);
}

}  // namespace

}  // namespace calpe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calpe::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
