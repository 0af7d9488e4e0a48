// SPDX-License-Identifier: Apache-2.0
#include "calpe/gpu_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

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

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string known_keys() {
  std::string names = "name";
  for (const Key& key : keys)
    names += text(", ", key.name);
  return names;
}

class Reader {
 public:
  explicit Reader(std::string_view path) : path_(path) {}

  Status read_line(std::string_view line) {
    ++number_;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) return Done{};
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return invalid(place(), "the line is \"", line, "\", expected key = value");
    }
    const std::string_view name = trimmed(line.substr(0, equals));
    const std::string_view value = trimmed(line.substr(equals + 1));
    if (name == "name") return take_name(value);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].name == name) return take_number(i, value);
    }
    return invalid(place(), "the key is \"", name, "\", expected one of ", known_keys());
  }

  Result<GpuDescription> finish() {
    if (gpu_.name.empty()) return invalid(path_, ": no name, expected name = what it is called");
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].is_needed && lines_[i] == 0) {
        return invalid(path_, ": no ", keys[i].name, ", expected ", keys[i].name, " = a number");
      }
    }
    return gpu_;
  }

 private:
  std::string place() const { return text(path_, ":", number_, ": "); }

  Status take_name(std::string_view value) {
    if (!gpu_.name.empty()) return twice("name", name_line_);
    if (value.empty()) return invalid(place(), "name is empty, expected what the GPU is called");
    gpu_.name = value;
    name_line_ = number_;
    return Done{};
  }

  Status take_number(std::size_t index, std::string_view value) {
    const Key& key = keys[index];
    if (lines_[index] != 0) return twice(key.name, lines_[index]);
    double number = 0;
    const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_number = problem == std::errc{} && end == value.data() + value.size();
    const bool is_good =
        is_number && std::isfinite(number) && number > 0 && (!key.is_fraction || number <= 1);
    if (!is_good) {
      return invalid(place(), key.name, " is \"", value, "\", expected a number above 0",
                     key.is_fraction ? " and at most 1" : "");
    }
    gpu_.*key.value = number;
    lines_[index] = number_;
    return Done{};
  }

  Error twice(std::string_view name, std::size_t line) const {
    return invalid(place(), name, " is given again, expected it once: line ", line, " has it");
  }

  std::string_view path_;
  std::size_t number_ = 0;
  std::size_t name_line_ = 0;
  std::array<std::size_t, keys.size()> lines_{};  // where a key stood; 0: nowhere yet
  GpuDescription gpu_;
};

}  // namespace

Result<GpuDescription> parse_gpu(std::string_view content, std::string_view path) {
  Reader reader(path);
  while (!content.empty()) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    CALPE_CHECK(reader.read_line(content.substr(0, end)));
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return reader.finish();
}

Result<GpuDescription> read_gpu_file(const std::string& path) {
  std::ifstream file(path);
  file.peek();  // a folder opens, and fails only when it is read
  if (!file.is_open() || file.bad()) {
    return make_error(ErrorCode::io, "cannot read ", path, ", expected a description of a GPU");
  }
  const std::string content(std::istreambuf_iterator<char>(file), {});
  return parse_gpu(content, path);
}

}  // namespace calpe::tools
