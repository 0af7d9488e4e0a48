// SPDX-License-Identifier: Apache-2.0
// CPUs to set the simulated hardware against: the paper's, and this machine's with Jerasure as the
// paper used it, with Jerasure used well, and with Calpe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calpe/reram/reram_run.hpp"

namespace calpe::tools {

// A speed-up is never shown without all of these words.
struct Baseline {
  std::string id;            // "jerasure-packet-8"; stable, unlike the rest
  std::string library;       // "Jerasure 2.0.0"
  std::string matrix;        // "cauchy_orig"
  std::string packets;       // "8-byte packets", or "no packets"
  std::string machine;       // "here, one thread"
  bool is_measured = false;  // here and now
  // Bytes of the shards that are read per second.
  std::optional<double> rate = {};         // the best round of those measured here
  std::optional<double> median_rate = {};  // only of those
  std::string problem = {};                // why there is no rate
};
std::string name_of(const Baseline& baseline);

// Of the CPUs that are measured.
std::size_t baseline_shard_bytes(const CodeSpec& spec);

// Of the work that `run` simulated: the paper's CPU, then four that are measured in turn for about
// so many seconds in all. What cannot be measured is there with its problem. Fails as Codec does.
Result<std::vector<Baseline>> measure_baselines(const ReramRun& run, double seconds);

// Calpe alone, encoding over bytes; has a rate.
Result<Baseline> measure_calpe(unsigned data, unsigned parity, double seconds);

}  // namespace calpe::tools
