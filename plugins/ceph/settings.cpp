// SPDX-License-Identifier: Apache-2.0
#include "ceph/settings.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace calpe_ceph {

namespace {

using Profile = ceph::ErasureCodeProfile;

constexpr std::uint32_t packet_bytes_max = 1u << 24;

bool is_given(const Profile& profile, const char* key) {
  const auto found = profile.find(key);
  return found != profile.end() && !found->second.empty();
}

std::string& value_or(Profile& profile, const char* key, const char* otherwise) {
  std::string& value = profile[key];
  if (value.empty()) value = otherwise;
  return value;
}

// Reads the number under `key`, which must exist.
int read_number(const Profile& profile, const char* key, std::uint32_t least, std::uint32_t most,
                std::uint32_t& number, std::ostream& errors) {
  const std::string& value = profile.at(key);
  const char* const end = value.data() + value.size();
  const auto [stop, status] = std::from_chars(value.data(), end, number);
  if (status == std::errc() && stop == end && number >= least && number <= most) return 0;
  errors << key << " is " << value << "; expected a number from " << least << " to " << most
         << std::endl;
  return -EINVAL;
}

const calpe_profile* find_profile(std::string_view name) {
  for (std::size_t i = 0;; ++i) {
    const calpe_profile* const profile = calpe_profile_at(i);
    if (profile == nullptr || name == profile->name) return profile;
  }
}

int read_code(const Profile& profile, calpe_spec& spec, std::ostream& errors) {
  const bool has_profile = is_given(profile, "profile");
  const char* const name = has_profile ? profile.at("profile").c_str() : "default";
  const calpe_profile* const code = find_profile(name);
  if (code == nullptr || code->family == CALPE_FAMILY_CUSTOM) {
    errors << "profile is " << name << "; expected one of";
    for (std::size_t i = 0; calpe_profile_at(i) != nullptr; ++i) {
      const calpe_profile& known = *calpe_profile_at(i);
      if (known.family != CALPE_FAMILY_CUSTOM) errors << " " << known.name;
    }
    errors << std::endl;
    return -EINVAL;
  }
  spec.family = code->family;
  spec.layout = code->bytes_layout != 0 ? CALPE_LAYOUT_BYTES : CALPE_LAYOUT_PACKETS;
  if (!is_given(profile, "layout")) return 0;
  const std::string& layout = profile.at("layout");
  if (layout != "bytes" && layout != "packets") {
    errors << "layout is " << layout << "; expected bytes or packets" << std::endl;
    return -EINVAL;
  }
  spec.layout = layout == "bytes" ? CALPE_LAYOUT_BYTES : CALPE_LAYOUT_PACKETS;
  return 0;
}

int read_numbers(Profile& profile, calpe_spec& spec, std::ostream& errors) {
  value_or(profile, "k", "4");
  value_or(profile, "m", "2");
  // The sum is checked below.
  if (read_number(profile, "k", 2, UINT16_MAX, spec.data_shards, errors) != 0 ||
      read_number(profile, "m", 1, UINT16_MAX, spec.parity_shards, errors) != 0) {
    return -EINVAL;
  }
  if (spec.data_shards + spec.parity_shards > shards_max) {
    errors << "k + m is " << spec.data_shards + spec.parity_shards << "; expected at most "
           << shards_max
           << (CALPE_CEPH_RELEASE < 17 ? "; the CRUSH rule of this release cannot map "
                                         "a wider pool, so its placement groups "
                                         "would never become active"
                                       : "; clients in the kernel accept no more")
           << std::endl;
    return -EINVAL;
  }
  if (is_given(profile, "packet_bytes") &&
      read_number(profile, "packet_bytes", 1, packet_bytes_max, spec.packet_bytes, errors) != 0) {
    return -EINVAL;
  }
  if (spec.family == CALPE_FAMILY_LRC) value_or(profile, "l", "2");
  if (is_given(profile, "l") &&
      read_number(profile, "l", 1, shards_max, spec.local_groups, errors) != 0) {
    return -EINVAL;
  }
  return 0;
}

// Reads the keys of rules that place several chunks in one failure domain. Other plugins of Ceph
// write 0 for keys that are not set.
int read_domains(const Profile& profile, Settings& settings, std::ostream& errors) {
  constexpr const char* domains_key = "crush-num-failure-domains";
  constexpr const char* osds_key = "crush-osds-per-failure-domain";
  constexpr std::uint32_t domains_max = 1u << 16;
  std::uint32_t& domains = settings.failure_domains;
  std::uint32_t& osds = settings.osds_per_failure_domain;
  if (is_given(profile, domains_key) &&
      read_number(profile, domains_key, 0, domains_max, domains, errors) != 0) {
    return -EINVAL;
  }
  if (is_given(profile, osds_key) &&
      read_number(profile, osds_key, 0, shards_max, osds, errors) != 0) {
    return -EINVAL;
  }
  if (domains == 0 && osds <= 1) return 0;
  if (CALPE_CEPH_RELEASE < 19) {
    errors << (domains != 0 ? domains_key : osds_key)
           << " is set; remove it, Ceph before 19 has no rule with several OSDs per failure domain"
           << std::endl;
    return -EINVAL;
  }
  const std::uint32_t chunks = settings.spec.data_shards + settings.spec.parity_shards;
  const std::uint32_t places = domains * (osds > 1 ? osds : 1);
  if (places < chunks) {
    errors << domains_key << " is " << domains << " and " << osds_key << " is " << osds
           << "; expected at least k + m = " << chunks << " places, as the product of both"
           << std::endl;
    return -EINVAL;
  }
  return 0;
}

}  // namespace

int read_settings(Profile& profile, Settings& settings, std::ostream& errors) {
  settings = {};
  settings.spec.struct_size = sizeof settings.spec;
  // Ceph accepts 0, and OSDs then stop at the first placement group.
  if (is_given(profile, "stripe_unit") &&
      profile.at("stripe_unit").find_first_of("123456789") == std::string::npos) {
    errors << "stripe_unit is " << profile.at("stripe_unit")
           << "; expected a multiple of 4096, such as 16K" << std::endl;
    return -EINVAL;
  }
  if (is_given(profile, "mapping")) {
    errors << "mapping is " << profile.at("mapping") << "; remove it, data shards must come first"
           << std::endl;
    return -EINVAL;
  }
  if (read_code(profile, settings.spec, errors) != 0 ||
      read_numbers(profile, settings.spec, errors) != 0 ||
      read_domains(profile, settings, errors) != 0) {
    return -EINVAL;
  }
  settings.backend = value_or(profile, "backend", "auto");
  value_or(profile, "crush-root", "default");
  value_or(profile, "crush-failure-domain", "host");
  value_or(profile, "crush-device-class", "");
  return 0;
}

void write_spec(const calpe_spec& resolved, Profile& profile) {
  for (std::size_t i = 0; calpe_profile_at(i) != nullptr; ++i) {
    const calpe_profile& known = *calpe_profile_at(i);
    if (known.family == resolved.family) profile["profile"] = known.name;
  }
  const bool has_packets = resolved.layout == CALPE_LAYOUT_PACKETS;
  profile["layout"] = has_packets ? "packets" : "bytes";
  if (has_packets) profile["packet_bytes"] = std::to_string(resolved.packet_bytes);
  if (resolved.local_groups != 0) profile["l"] = std::to_string(resolved.local_groups);
}

}  // namespace calpe_ceph
