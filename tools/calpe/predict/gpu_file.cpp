// SPDX-License-Identifier: Apache-2.0
#include "calpe/predict/gpu_file.hpp"

#include <array>
#include <optional>

#include "base/settings_file.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::tools {

namespace {

struct Key {
  std::string_view name;
  double GpuDescription::*value;
  bool is_needed;
  bool is_fraction = false;
};

constexpr std::array keys = {
    Key{"multiprocessors", &GpuDescription::multiprocessors, true},
    Key{"clock_ghz", &GpuDescription::clock_ghz, true},
    Key{"memory_gb_per_s", &GpuDescription::memory_gb_per_s, true},
    Key{"l2_gb_per_s", &GpuDescription::l2_gb_per_s, true},
    Key{"pcie_gb_per_s", &GpuDescription::pcie_gb_per_s, true},
    Key{"alu_lanes_per_clock", &GpuDescription::alu_lanes_per_clock, false},
    Key{"issue_lanes_per_clock", &GpuDescription::issue_lanes_per_clock, false},
    Key{"memory_efficiency", &GpuDescription::memory_efficiency, false, true},
    Key{"compute_efficiency", &GpuDescription::compute_efficiency, false, true},
    Key{"l2_efficiency", &GpuDescription::l2_efficiency, false, true},
};

std::string known_keys() {
  std::string names = "name";
  for (const Key& key : keys)
    names += text(", ", key.name);
  return names;
}

class Reader {
 public:
  explicit Reader(std::string_view path) : path_(path) {}

  Status take(const Setting& setting) {
    if (setting.key == "name") return take_name(setting);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].name == setting.key) return take_number(i, setting);
    }
    return invalid(place_of(setting, path_), "the key is \"", setting.key, "\"; expected one of ",
                   known_keys());
  }

  Result<GpuDescription> finish() {
    if (gpu_.name.empty()) return invalid(path_, ": no name; expected a line name = NAME");
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].is_needed && !is_given_[i]) {
        return invalid(path_, ": no ", keys[i].name, "; expected a line ", keys[i].name,
                       " = NUMBER");
      }
    }
    return gpu_;
  }

 private:
  Status take_name(const Setting& setting) {
    if (setting.value.empty()) {
      return invalid(place_of(setting, path_), "name is empty; expected the name of the GPU");
    }
    gpu_.name = setting.value;
    return Done{};
  }

  Status take_number(std::size_t index, const Setting& setting) {
    const Key& key = keys[index];
    const std::optional<double> number = calpe::parse_number(setting.value);
    if (!number || !(*number > 0) || (key.is_fraction && *number > 1)) {
      return invalid(place_of(setting, path_), key.name, " is \"", setting.value,
                     "\"; expected a number above 0", key.is_fraction ? " and at most 1" : "");
    }
    gpu_.*key.value = *number;
    is_given_[index] = true;
    return Done{};
  }

  std::string_view path_;
  std::array<bool, keys.size()> is_given_{};
  GpuDescription gpu_;
};

}  // namespace

Result<GpuDescription> parse_gpu(std::string_view content, std::string_view path) {
  CALPE_TRY(const auto settings, split_settings(content, path));
  Reader reader(path);
  for (const Setting& setting : settings)
    CALPE_CHECK(reader.take(setting));
  return reader.finish();
}

Result<GpuDescription> read_gpu_file(const std::string& path) {
  CALPE_TRY(const std::string content, read_settings(path, "a description of a GPU"));
  return parse_gpu(content, path);
}

}  // namespace calpe::tools
