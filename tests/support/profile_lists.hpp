// SPDX-License-Identifier: Apache-2.0
// Profiles as test parameters: all except a few, so that new ones are tested automatically.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <calpe/code_spec.hpp>

namespace calpe::tests {

// In the order of `calpe codes`.
inline std::vector<Profile> profiles_but(std::initializer_list<std::string_view> left_out) {
  std::vector<Profile> profiles = list_profiles();
  std::erase_if(profiles, [&](const Profile& profile) {
    return std::find(left_out.begin(), left_out.end(), profile.name) != left_out.end();
  });
  return profiles;
}

// As parameters that gtest prints.
inline std::vector<const char*> names_of(const std::vector<Profile>& profiles) {
  std::vector<const char*> names;
  for (const Profile& profile : profiles)
    names.push_back(profile.name.data());  // a literal
  return names;
}

}  // namespace calpe::tests
