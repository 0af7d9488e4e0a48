// SPDX-License-Identifier: Apache-2.0
#include "calpe/reram/reram_baselines.hpp"

#include <fmt/format.h>
#include <memory>

#include "base/try.hpp"
#include "bench/harness/calpe_coder.hpp"
#include "bench/harness/jerasure.hpp"
#include "bench/harness/rounds.hpp"
#include "bench/harness/statistics.hpp"
#include "reram/paper.hpp"

namespace calpe::tools {

namespace {

constexpr const char* jerasure_file = "libJerasure.so.2";
constexpr std::size_t paper_packet_bytes = 8;
constexpr std::size_t good_packet_bytes = 2048;

using CoderResult = Result<std::unique_ptr<bench::Coder>>;

bench::Shape shape_of(const CodeSpec& spec) {
  return {spec.data_shards, spec.parity_shards};
}

std::string packets_text(std::size_t bytes) {
  return fmt::format("{}-byte packets", bytes);
}

Baseline measured_here(std::string id) {
  Baseline baseline;
  baseline.id = std::move(id);
  baseline.machine = "here, one thread";
  baseline.is_measured = true;
  return baseline;
}

// The paper states three rates; the others are derived from them (reram/paper.hpp).
std::string_view how_known(bench::Shape shape) {
  const bool is_stated =
      shape == bench::Shape{10, 2} || shape == bench::Shape{40, 2} || shape == bench::Shape{10, 16};
  if (is_stated) return "";
  const bool is_between = shape.data_shards >= 10 && shape.data_shards <= 40 &&
                          shape.parity_shards >= 2 && shape.parity_shards <= 16;
  return is_between ? ", interpolated" : ", extrapolated";
}

Baseline paper_cpu(const ReramRun& run) {
  Baseline baseline{.id = "paper-cpu",
                    .library = "Jerasure",
                    .matrix = "an unnamed Cauchy matrix",
                    .packets = packets_text(paper_packet_bytes),
                    .machine = "the paper's i7-12700"};
  if (run.is_decode) {
    baseline.problem = "the paper gives no decode rate, only speed-ups";
  } else {
    baseline.rate = 1e6 * reram::paper_cpu_mb_per_s(run.spec.data_shards, run.spec.parity_shards);
    baseline.machine += how_known(shape_of(run.spec));
  }
  return baseline;
}

// Measures the available baselines; lists the others with the reason.
class Contest {
 public:
  Contest(const ReramRun& run, const bench::StripeBuffers& stripes)
      : run_(run), stripes_(stripes) {}

  void add(Baseline baseline, const CoderResult& coder) {
    const Result<bench::Call> call = coder ? call_of(**coder) : Result<bench::Call>(coder.error());
    if (call) {
      contestants_.push_back({baseline.id, {*call}});
      places_.push_back(baselines_.size());
    } else {
      baseline.problem = call.error().message;
    }
    baselines_.push_back(std::move(baseline));
  }

  Result<std::vector<Baseline>> measure(double seconds) {
    CALPE_TRY(const std::vector<bench::Samples> samples,
              run_rounds(contestants_, {.seconds = seconds}));
    const auto bytes = static_cast<double>(run_.reads.size() * baseline_shard_bytes(run_.spec));
    for (std::size_t i = 0; i < places_.size(); ++i) {
      baselines_[places_[i]].rate = bytes / bench::quantile(samples[i], 0);
      baselines_[places_[i]].median_rate = bytes / bench::quantile(samples[i], 0.5);
    }
    return baselines_;
  }

 private:
  Result<bench::Call> call_of(const bench::Coder& coder) const {
    if (run_.is_decode) return coder.decode_call(stripes_, run_.writes);
    return coder.encode_call(stripes_);
  }

  const ReramRun& run_;
  const bench::StripeBuffers& stripes_;
  std::vector<Baseline> baselines_;
  std::vector<bench::Contestant> contestants_;
  std::vector<std::size_t> places_;
};

CoderResult jerasure_coder(const Result<bench::JerasureFunctions>& functions, const ReramRun& run,
                           bench::JerasureCauchy matrix, std::size_t packet_bytes) {
  if (!functions) return functions.error();
  // Jerasure's schedules rebuild data shards only; `writes` is sorted.
  if (run.is_decode && run.writes.back() >= run.spec.data_shards) {
    return Error{ErrorCode::invalid_argument,
                 "not measured: Jerasure rebuilds parity by encoding again"};
  }
  auto coder = make_jerasure_cauchy_as(
      *functions, {shape_of(run.spec), baseline_shard_bytes(run.spec), {}}, matrix, packet_bytes);
  if (coder) return coder;
  return Error{ErrorCode::invalid_argument,
               "not measured: Jerasure takes minutes to compute a schedule for this code"};
}

// Must outlive the calls that use it.
struct Jerasure {
  Result<bench::SharedLibrary> library = bench::SharedLibrary::open(jerasure_file);
  Result<bench::JerasureFunctions> functions =
      library
          ? find_jerasure(*library)
          : Error{ErrorCode::invalid_argument,
                  fmt::format("not available: {}; install libjerasure2", library.error().message)};
};

void add_jerasure(Contest& contest, const ReramRun& run, const Jerasure& jerasure) {
  const auto add = [&](std::string id, bench::JerasureCauchy matrix, std::size_t packet_bytes) {
    Baseline baseline = measured_here(std::move(id));
    baseline.library = jerasure.library ? "Jerasure " + jerasure.library->version() : "Jerasure";
    baseline.matrix = matrix == bench::JerasureCauchy::good ? "cauchy_good" : "cauchy_orig";
    baseline.packets = packets_text(packet_bytes);
    contest.add(std::move(baseline), jerasure_coder(jerasure.functions, run, matrix, packet_bytes));
  };
  add("jerasure-packet-8", bench::JerasureCauchy::original, paper_packet_bytes);
  add("jerasure-packet-2048", bench::JerasureCauchy::good, good_packet_bytes);
}

Status add_calpe(Contest& contest, const std::string& id, const CodeSpec& spec) {
  CALPE_TRY(const Codec codec, Codec::create(spec));
  Baseline baseline = measured_here(id);
  baseline.library = fmt::format("Calpe {} {}", version(), codec.backend());
  baseline.matrix = "hybrid";
  baseline.packets =
      spec.layout == Layout::bytes ? "whole bytes, no packets" : packets_text(spec.packet_bytes);
  contest.add(std::move(baseline),
              bench::make_own_coder({codec, codec}, baseline_shard_bytes(spec)));
  return Done{};
}

CodeSpec bytes_spec(bench::Shape shape) {
  return {.family = CodeFamily::hybrid,
          .layout = Layout::bytes,
          .data_shards = shape.data_shards,
          .parity_shards = shape.parity_shards};
}

}  // namespace

// For the codes of the paper, shards fit the cache of a core, so the CPU does not move data either.
// Wide codes are slow and use the smallest size that holds whole groups of 2048-byte packets.
std::size_t baseline_shard_bytes(const CodeSpec& spec) {
  return spec.data_shards <= 40 ? std::size_t{64} << 10U : std::size_t{16} << 10U;
}

std::string name_of(const Baseline& baseline) {
  return fmt::format("{}, {}, {}, {}", baseline.library, baseline.matrix, baseline.packets,
                     baseline.machine);
}

Result<std::vector<Baseline>> measure_baselines(const ReramRun& run, double seconds) {
  const Jerasure jerasure;
  CALPE_TRY(const bench::StripeBuffers stripes,
            bench::StripeBuffers::create(shape_of(run.spec), baseline_shard_bytes(run.spec)));
  Contest contest(run, stripes);
  add_jerasure(contest, run, jerasure);
  CALPE_CHECK(add_calpe(contest, "calpe-packets", run.spec));
  CALPE_CHECK(add_calpe(contest, "calpe-bytes", bytes_spec(shape_of(run.spec))));
  CALPE_TRY(std::vector<Baseline> baselines, contest.measure(seconds));
  baselines.insert(baselines.begin(), paper_cpu(run));
  return baselines;
}

Result<Baseline> measure_calpe(unsigned data, unsigned parity, double seconds) {
  ReramRun run;
  run.spec = bytes_spec({data, parity});
  run.reads.resize(data);
  CALPE_TRY(const bench::StripeBuffers stripes,
            bench::StripeBuffers::create(shape_of(run.spec), baseline_shard_bytes(run.spec)));
  Contest contest(run, stripes);
  CALPE_CHECK(add_calpe(contest, "calpe-bytes", run.spec));
  CALPE_TRY(const std::vector<Baseline> baselines, contest.measure(seconds));
  if (!baselines.front().rate) return Error{ErrorCode::device_failed, baselines.front().problem};
  return baselines.front();
}

}  // namespace calpe::tools
