// SPDX-License-Identifier: Apache-2.0
#include "calpe/predict/prediction_report.hpp"

#include <charconv>
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/progress.hpp"

namespace calpe::tools {

namespace {

// "10+4"
Result<Shape> parse_shape(std::string_view given) {
  const char* const end = given.data() + given.size();
  Shape shape = {};
  const auto data = std::from_chars(given.data(), end, shape.data);
  if (data.ec == std::errc{} && data.ptr != end && *data.ptr == '+') {
    const auto parity = std::from_chars(data.ptr + 1, end, shape.parity);
    const bool is_whole = parity.ec == std::errc{} && parity.ptr == end;
    const bool is_small = shape.data + shape.parity <= byte_shard_count_max &&
                          shape.data <= byte_shard_count_max &&
                          shape.parity <= byte_shard_count_max;
    if (is_whole && is_small && shape.data > 0 && shape.parity > 0) return shape;
  }
  return invalid("--shape is \"", given, "\"; expected data+parity such as 10+4, at most ",
                 byte_shard_count_max, " together");
}

std::string_view name_of(Layout layout) {
  return layout == Layout::bytes ? "bytes" : "packets";
}

// One spec per layout of the profile, with the word bits of that layout.
std::vector<CodeSpec> specs_of(const CodeSpec& base, const PredictedCodes& codes) {
  std::vector<CodeSpec> specs;
  for (const Profile& profile : list_profiles()) {
    if (profile.name != codes.profile) continue;
    CodeSpec spec = base;
    // The bytes layout always has 8-bit symbols.
    if (profile.bytes_layout && (codes.word_bits == 0 || codes.word_bits == 8)) {
      spec.layout = Layout::bytes;
      spec.word_bits = 8;
      specs.push_back(spec);
    }
    if (profile.packets_layout) {
      spec.layout = Layout::packets;
      spec.word_bits = static_cast<std::uint8_t>(codes.word_bits == 0 ? 8 : codes.word_bits);
      specs.push_back(spec);
    }
  }
  return specs;
}

}  // namespace

Result<std::vector<PredictedRow>> predict_codes(const GpuDescription& gpu,
                                                const PredictedCodes& codes) {
  CALPE_TRY(CodeSpec base, find_profile(codes.profile));
  Progress progress("counting instructions");
  std::vector<PredictedRow> rows;
  for (const std::string& text : codes.shapes) {
    CALPE_TRY(const Shape shape, parse_shape(text));
    base.data_shards = shape.data;
    base.parity_shards = shape.parity;
    const std::vector<CodeSpec> specs = specs_of(base, codes);
    if (specs.empty()) {
      return invalid("--word-bits is ", codes.word_bits, ", but profile ", codes.profile,
                     " has no packets layout; expected 8");
    }
    for (const CodeSpec& spec : specs) {
      progress.say(fmt::format("counting instructions of {} {}", text, name_of(spec.layout)));
      CALPE_TRY(const CountedKernel kernel, count_kernel(spec));
      rows.push_back({spec, kernel, predict(gpu, kernel.counts, shape)});
    }
  }
  return rows;
}

void print_predictions(const GpuDescription& gpu, const std::vector<PredictedRow>& rows) {
  fmt::print("{}: {}\n", gpu.name, prediction_note);
  fmt::print("{:<8} {:<10} {:<7} {:>4} {:>6} {:>7} {:>6} {:>6} {:<5} {:>9} {:<5}\n", "CODE",
             "LAYOUT", "KERNEL", "WORD", "ALU/B", "ISSUE/B", "GROUPS", "GB/s", "LIMIT", "FROM HOST",
             "LIMIT");
  for (const PredictedRow& row : rows) {
    const std::string layout = row.spec.word_bits == 8
                                   ? std::string(name_of(row.spec.layout))
                                   : fmt::format("packets/{}", row.spec.word_bits);
    fmt::print(
        "{:<8} {:<10} {:<7} {:>4} {:>6.2f} {:>7.2f} {:>6} {:>6.0f} {:<5} {:>9.1f} {:<5} {}\n",
        fmt::format("{}+{}", row.spec.data_shards, row.spec.parity_shards), layout,
        row.kernel.style, row.kernel.word_bytes, row.kernel.counts.alu_per_byte,
        row.kernel.counts.issue_per_byte, row.kernel.counts.row_groups,
        row.prediction.device.gb_per_s, row.prediction.device.unit, row.prediction.host.gb_per_s,
        row.prediction.host.unit, prediction_note);
  }
}

nlohmann::ordered_json to_json(const GpuDescription& gpu, const std::vector<PredictedRow>& rows) {
  nlohmann::ordered_json json = {{"gpu", gpu.name}, {"note", prediction_note}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const PredictedRow& row : rows) {
    nlohmann::ordered_json entry = {{"data_shards", row.spec.data_shards},
                                    {"parity_shards", row.spec.parity_shards},
                                    {"layout", name_of(row.spec.layout)},
                                    {"word_bits", row.spec.word_bits},
                                    {"kernel", row.kernel.style},
                                    {"word_bytes", row.kernel.word_bytes},
                                    {"alu_per_byte", row.kernel.counts.alu_per_byte},
                                    {"issue_per_byte", row.kernel.counts.issue_per_byte},
                                    {"row_groups", row.kernel.counts.row_groups},
                                    {"gb_per_s", row.prediction.device.gb_per_s},
                                    {"limit", row.prediction.device.unit},
                                    {"host_gb_per_s", row.prediction.host.gb_per_s},
                                    {"host_limit", row.prediction.host.unit},
                                    {"note", prediction_note}};
    for (const Bound& bound : row.prediction.bounds)
      entry["bounds"][std::string(bound.unit)] = bound.gb_per_s;
    json["rows"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace calpe::tools
