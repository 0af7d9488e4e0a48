// SPDX-License-Identifier: Apache-2.0
// Parameters of the simulated hardware, each with its origin, to keep guesses apart from
// measurements. File format:
//
//   name = my chip
//   rows = 514            paper   # word-lines per crossbar
//   read_ns = 36.336      fit     # of 19x at 10+2 and +72 % from k = 10 to 40
//
// Lines of `key = value origin`, in any order; # starts a comment.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::reram {

enum class Origin : std::uint8_t {
  paper,  // stated in the Re-RAID paper
  nvsim,  // computed by NVSim for the configuration in docs/reram.md
  fit,    // fitted to a result of the paper: calibration, not evidence
  user,   // chosen by the user, or by us without a source
};
std::string_view name_of(Origin origin) noexcept;

struct Parameter {
  double value = 0;
  Origin origin = Origin::user;
  bool operator==(const Parameter&) const = default;
};

struct Parameters {
  std::string name;

  // Geometry. Each bank has `subarrays` crossbars of rows x columns cells; all work in parallel.
  Parameter banks = {8, Origin::paper};
  Parameter subarrays = {4, Origin::paper};
  Parameter rows = {512};  // the paper has 514, presumably a slip; 514 hold one more shard
  Parameter columns = {512, Origin::paper};
  Parameter packet_bytes = {8,
                            Origin::paper};  // the controller cuts shards into packets of this size
  Parameter adc_bits = {10};                 // sums beyond 2^bits - 1 are read as 2^bits - 1

  // An activation takes read_ns * column_mux, after load_ns_per_byte for each byte of inputs.
  Parameter read_ns = {};
  Parameter column_mux = {1};  // bit-lines that share a converter in turn
  Parameter load_ns_per_byte = {};
  Parameter write_word_ns = {};  // writes write_word_bits cells of a row at a time
  Parameter write_word_bits = {64};
  Parameter combine_ns = {};      // XOR of two partial results outside the crossbars
  Parameter mode_switch_ns = {};  // change of a crossbar between storage and compute
  Parameter bus_gb_per_s = {};    // in each direction; 0: no limit
  Parameter queue_depth = {64};   // blocks in flight

  // Picojoules per word of write_word_bits; absent: energy is not modelled.
  std::optional<Parameter> read_word_pj = {};
  std::optional<Parameter> write_word_pj = {};

  Parameter endurance = {1e9};  // writes that a row survives

  // Noise; none by default.
  Parameter variation = {0};     // relative standard deviation of a cell's conductance
  Parameter on_off_ratio = {0};  // conductance of a 1 over that of a 0; 0: infinite
  Parameter stuck_at_0 = {0};    // fractions of all cells
  Parameter stuck_at_1 = {0};
  Parameter seed = {1};

  std::size_t crossbar_count() const noexcept {
    return static_cast<std::size_t>(banks.value * subarrays.value);
  }
  bool is_noisy() const noexcept {
    return variation.value > 0 || stuck_at_0.value > 0 || stuck_at_1.value > 0;
  }
  bool operator==(const Parameters&) const = default;
};

// Fail with invalid_argument, naming path, line, key, value and what was expected. Missing keys
// keep their default, but read_ns, load_ns_per_byte and write_word_ns are required.
Result<Parameters> parse_parameters(std::string_view content, std::string_view path);
// Also fails with io.
Result<Parameters> read_parameters_file(const std::string& path);
// Returns a file that parse_parameters reads back unchanged.
std::string to_text(const Parameters& parameters);

// Sets a parameter, such as "read_ns=20", with origin user. Fails like parse_parameters and then
// changes nothing.
Status set_parameter(Parameters& parameters, std::string_view assignment);

// "reraid-fit", "nvsim-32nm". Fails with invalid_argument and lists the names.
Result<Parameters> find_preset(std::string_view name);
std::vector<std::string_view> preset_names();

}  // namespace calpe::reram
