// SPDX-License-Identifier: Apache-2.0
// CPU baselines for the simulated hardware: the paper's CPU, and this machine with Jerasure as in
// the paper, with Jerasure and good packets, and with Calpe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calpe/reram/reram_run.hpp"

namespace calpe::tools {

// Every printed speed-up names all of these.
struct Baseline {
  std::string id;            // "jerasure-packet-8"; stable, unlike the rest
  std::string library;       // "Jerasure 2.0.0"
  std::string matrix;        // "cauchy_orig"
  std::string packets;       // "8-byte packets", or "no packets"
  std::string machine;       // "here, one thread"
  bool is_measured = false;  // in this run
  // Bytes of input shards per second.
  std::optional<double> rate = {};         // best round if measured here
  std::optional<double> median_rate = {};  // only if measured here
  std::string problem = {};                // why there is no rate
};
std::string name_of(const Baseline& baseline);

// Shard size of the measured baselines.
std::size_t baseline_shard_bytes(const CodeSpec& spec);

// Baselines for the work that `run` simulated: the paper's CPU, then four that are measured in turn
// for about `seconds` in total. An unavailable baseline has a `problem`. Fails as Codec does.
Result<std::vector<Baseline>> measure_baselines(const ReramRun& run, double seconds);

// Measures Calpe alone, encoding in the bytes layout; always has a rate.
Result<Baseline> measure_calpe(unsigned data, unsigned parity, double seconds);

}  // namespace calpe::tools
