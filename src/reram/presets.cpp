// SPDX-License-Identifier: Apache-2.0
// The named parameter sets. docs/reram.md has the source of each value.
#include "base/text.hpp"
#include "reram/parameters.hpp"

namespace calpe::reram {

namespace {

constexpr std::string_view fit_name = "reraid-fit";
constexpr std::string_view nvsim_name = "nvsim-32nm";

// NVSim's values for a word of 64 bits in 512 x 512 cells of its sample_RRAM at 32 nm.
constexpr double nvsim_read_ns = 1.486;
constexpr double nvsim_write_ns = 20.537;
constexpr double nvsim_read_pj = 9.851;
constexpr double nvsim_write_pj = 55.477;
constexpr double nvsim_column_mux = 8;  // 512 bit-lines, 64 sense amplifiers

// With 32 crossbars, a matrix of k shards takes read + k * load for 32 * k bytes. Two results of
// the paper determine both: 19 * 258.7 MB/s at k = 10, and 1.72 times that at k = 40.
Parameters reraid_fit() {
  Parameters parameters;
  parameters.name = fit_name;
  parameters.read_ns = {36.3365, Origin::fit};
  parameters.load_ns_per_byte = {2.87664, Origin::fit};
  parameters.write_word_ns = {nvsim_write_ns, Origin::nvsim};
  return parameters;
}

// Assumes that inputs are latched as fast as cells are written; NVSim does not state it.
Parameters nvsim_32nm() {
  Parameters parameters;
  parameters.name = nvsim_name;
  parameters.read_ns = {nvsim_read_ns, Origin::nvsim};
  parameters.column_mux = {nvsim_column_mux, Origin::nvsim};
  parameters.load_ns_per_byte = {nvsim_write_ns / 8, Origin::nvsim};
  parameters.write_word_ns = {nvsim_write_ns, Origin::nvsim};
  parameters.write_word_bits = {64, Origin::nvsim};
  parameters.read_word_pj = {nvsim_read_pj, Origin::nvsim};
  parameters.write_word_pj = {nvsim_write_pj, Origin::nvsim};
  return parameters;
}

}  // namespace

std::vector<std::string_view> preset_names() {
  return {fit_name, nvsim_name};
}

Result<Parameters> find_preset(std::string_view name) {
  if (name == fit_name) return reraid_fit();
  if (name == nvsim_name) return nvsim_32nm();
  return invalid("the preset is \"", name, "\"; expected one of ", fit_name, ", ", nvsim_name);
}

}  // namespace calpe::reram
