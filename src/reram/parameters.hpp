// SPDX-License-Identifier: Apache-2.0
// The simulated hardware in numbers, each with its origin, so that nobody takes a guess for a
// measurement. Kept in a small file:
//
//   name = my chip
//   rows = 514            paper   # word-lines of a crossbar
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

namespace calpe::sim {

enum class Origin : std::uint8_t {
  paper,  // stands in the text of Re-RAID
  nvsim,  // given by NVSim for the configuration that docs/reram.md names
  fit,    // solved for, so that the model meets a result of the paper: calibration, no evidence
  user,   // chosen: by whoever wrote the file, or by us where no source has a value
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
  Parameter rows = {512};  // the paper has 514, presumably a slip; 514 hold one shard more
  Parameter columns = {512, Origin::paper};
  Parameter packet_bytes = {8, Origin::paper};  // that the controller cuts shards into
  Parameter adc_bits = {10};                    // sums beyond 2^bits - 1 are read as 2^bits - 1

  // Time of one activation: read_ns * column_mux, after load_ns_per_byte for each byte of inputs.
  Parameter read_ns = {};
  Parameter column_mux = {1};  // bit-lines that share a converter, one after the other
  Parameter load_ns_per_byte = {};
  Parameter write_word_ns = {};  // cells of one row are written so many bits at a time
  Parameter write_word_bits = {64};
  Parameter combine_ns = {};      // XOR of two partial results outside of the crossbars
  Parameter mode_switch_ns = {};  // of a crossbar between storage and compute
  Parameter bus_gb_per_s = {};    // each way; 0: no limit
  Parameter queue_depth = {64};   // blocks that the controller has under way

  // Picojoules of a word of write_word_bits; absent: energy is not modelled.
  std::optional<Parameter> read_word_pj = {};
  std::optional<Parameter> write_word_pj = {};

  Parameter endurance = {1e9};  // writes that a row stands

  // Noise; none by default.
  Parameter variation = {0};     // standard deviation of a cell's conductance, relative
  Parameter on_off_ratio = {0};  // conductance of a one over that of a zero; 0: a zero has none
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

// Fail with invalid_argument, naming path, line, key, what is there and what is expected. What a
// file does not say keeps the default of the structure; read_ns, load_ns_per_byte and write_word_ns
// must be said.
Result<Parameters> parse_parameters(std::string_view content, std::string_view path);
// Fails with io, too.
Result<Parameters> read_parameters_file(const std::string& path);
// A file that parse_parameters reads back as the same.
std::string to_text(const Parameters& parameters);

// "read_ns=20": by the user, from now on. Fails like parse_parameters, and changes nothing then.
Status set_parameter(Parameters& parameters, std::string_view assignment);

// "reraid-fit", "nvsim-32nm". Fails with invalid_argument and lists the names.
Result<Parameters> find_preset(std::string_view name);
std::vector<std::string_view> preset_names();

}  // namespace calpe::sim
