// SPDX-License-Identifier: Apache-2.0
// Codecs and plans of a session.
#include <string>

#include "fuzz/capi_session.hpp"

namespace calpe::fuzz {

namespace {

constexpr unsigned shards_wide = 12;  // larger ones take milliseconds to make

bool is_mds_family(std::uint32_t family) {
  return family != CALPE_FAMILY_LRC && family != CALPE_FAMILY_CUSTOM;
}

// One of each family, and some with packets. Made once, because making takes longest.
const std::vector<HeldCodec>& usual_codecs() {
  static const std::vector<HeldCodec> made = [] {
    std::vector<HeldCodec> all;
    for (std::uint32_t i = 0; i < 32; ++i) {
      calpe_spec spec = {};
      spec.struct_size = sizeof spec;
      spec.family = i % 16;
      spec.data_shards = 1 + i * 5 % 6;
      spec.parity_shards = 1 + i % 4;
      if (i >= 16) std::swap(spec.data_shards, spec.parity_shards);
      if (spec.family == CALPE_FAMILY_LRC) spec.local_groups = 1;
      const bool has_packets = (spec.family >= 7 && spec.family <= 9) || i % 16 == 1;
      if (spec.family == CALPE_FAMILY_LCH && i >= 16) spec.word_bits = 16;
      if (has_packets) {
        spec.layout = CALPE_LAYOUT_PACKETS;
        spec.word_bits = 4 + i / 8;
        spec.packet_bytes = 8;
      }
      calpe_options options = {};
      options.struct_size = sizeof options;
      options.backend = i % 8 == 7 ? nullptr : "cpu";
      options.plan_cache_entries = 1 + i % 3;
      calpe_codec* codec = nullptr;
      if (calpe_codec_create(&spec, &options, &codec, nullptr) == CALPE_OK)
        all.push_back(*hold_codec(CodecHandle(codec), {}));
    }
    require(all.size() >= 20, "most of the usual codecs can be made");
    return all;
  }();
  return made;
}

}  // namespace

void Session::take_codec() {
  const auto& usual = usual_codecs();
  codecs_[input_.below(codecs_.size())] = usual[input_.below(usual.size())];
}

// Mostly well-formed and small, sometimes any 32-bit number.
calpe_spec Session::any_spec() {
  calpe_spec spec = {};
  spec.struct_size = sizeof spec;
  const std::uint8_t mode = input_.byte();
  spec.family = input_.below(16);
  spec.data_shards = 1 + input_.below(7);
  spec.parity_shards = 1 + input_.below(5);
  if (spec.family == CALPE_FAMILY_LRC || (mode & 1U) != 0) spec.local_groups = input_.below(4);
  if ((mode & 2U) != 0) {
    spec.layout = input_.below(4);
    spec.word_bits = input_.below(10);
    spec.packet_bytes = 8 * input_.below(3) + (input_.coin() ? 0 : input_.below(8));
  }
  if ((mode & 3U) == 1 && spec.family <= CALPE_FAMILY_LCH) spec.word_bits = 16;
  if ((mode & 4U) != 0) spec.polynomial = input_.byte() | 0x100U;
  if ((mode & 8U) != 0) spec.matrix_hash = input_.word();
  if ((mode & 48U) == 48) {
    std::uint32_t* const fields[] = {&spec.family,        &spec.layout,      &spec.data_shards,
                                     &spec.parity_shards, &spec.word_bits,   &spec.polynomial,
                                     &spec.packet_bytes,  &spec.local_groups};
    *fields[input_.below(std::size(fields))] = input_.word();
    if (spec.data_shards <= CALPE_SHARDS_MAX && spec.parity_shards <= CALPE_SHARDS_MAX &&
        spec.data_shards + spec.parity_shards > shards_wide) {
      spec.data_shards %= 8;
      spec.parity_shards %= 4;
    }
  }
  // Simulates a caller compiled with an older header.
  if ((mode & 192U) == 192) spec.struct_size = input_.below(sizeof spec + 1);
  return spec;
}

calpe_options Session::any_options() {
  static constexpr const char* backends[] = {"cpu",       nullptr,    "reference", "cpu:scalar",
                                             "cpu:ssse3", "cpu:avx2", "cpu:",      "",
                                             "nonsense",  "cpu+cpu"};
  calpe_options options = {};
  options.struct_size = sizeof options;
  const std::uint8_t mode = input_.byte();
  // `auto` compiles machine code for packets, which is slow, so use it once in sixteen.
  options.backend = backends[mode % 16 < 7 ? 0 : mode % 16 == 7 ? 1 : 2 + mode % 8];
  options.threads = mode % 16 == 3 ? 2 : 0;  // then calpe_submit() works in the background
  if ((mode & 16U) != 0) options.plan_cache_entries = 1 + input_.below(3);
  if ((mode & 32U) != 0) options.plan_cache_entries = UINT32_MAX;
  options.allow_unproven = mode >> 6U & 1U;
  if ((mode & 128U) != 0) options.effort = input_.below(8) == 7 ? input_.word() | 4U : 0;
  return options;
}

void Session::make_codec() {
  const calpe_spec spec = any_spec();
  const calpe_options options = any_options();
  auto& place = codecs_[input_.below(codecs_.size())];
  place.reset();
  place = hold_codec(
      checked_handle<CodecHandle>({CALPE_ERROR_INVALID_ARGUMENT, CALPE_ERROR_UNPROVEN,
                                   CALPE_ERROR_CORRUPT, CALPE_ERROR_BACKEND_UNAVAILABLE},
                                  [&](calpe_codec** out, calpe_error* error) {
                                    return calpe_codec_create(
                                        &spec, input_.coin() ? &options : nullptr, out, error);
                                  }),
      {});
  if (!place) return;
  require(!is_mds_family(place->spec.family) || place->model.is_mds(), "profiles are MDS");
  require(place->spec.family != CALPE_FAMILY_DEFAULT, "default is resolved");
}

void Session::make_from_matrix() {
  calpe_spec spec = any_spec();
  spec.struct_size = sizeof spec;
  spec.data_shards %= 8;
  spec.parity_shards %= 6;
  if (input_.below(8) != 0) spec.family = CALPE_FAMILY_CUSTOM;
  const calpe_options options = any_options();
  std::vector<std::uint16_t> rows(std::size_t{spec.data_shards} * spec.parity_shards);
  const bool is_wide = input_.below(16) == 0;
  for (std::uint16_t& cell : rows)
    cell = static_cast<std::uint16_t>(is_wide ? input_.byte() << 4U : input_.byte());
  if (rows.empty()) rows.resize(1);  // NULL is a different error
  auto& place = codecs_[input_.below(codecs_.size())];
  place.reset();
  CodecHandle made = checked_handle<CodecHandle>(
      {CALPE_ERROR_INVALID_ARGUMENT, CALPE_ERROR_UNPROVEN, CALPE_ERROR_CORRUPT,
       CALPE_ERROR_BACKEND_UNAVAILABLE},
      [&](calpe_codec** out, calpe_error* error) {
        return calpe_codec_create_from_matrix(&spec, rows.data(), &options, out, error);
      });
  place = hold_codec(std::move(made), std::move(rows));
  if (place)
    require(place->spec.family == CALPE_FAMILY_CUSTOM, "custom rows have the family custom");
}

void Session::ask_about_code() {
  const calpe_spec spec = any_spec();
  calpe_proof proof = {};
  proof.struct_size = sizeof proof;
  const calpe_status proven =
      checked({CALPE_ERROR_INVALID_ARGUMENT, CALPE_ERROR_CORRUPT},
              [&](calpe_error* error) { return calpe_prove(&spec, &proof, error); });
  std::array<calpe_pattern_count, shards_wide> counts = {};
  std::size_t capacity = input_.coin() ? counts.size() : input_.below(counts.size());
  // Counting millions of patterns takes a minute: without capacity, the call must fail before that.
  if (spec.data_shards + spec.parity_shards > 12) capacity = 0;
  const calpe_status counted =
      checked({CALPE_ERROR_INVALID_ARGUMENT, CALPE_ERROR_CORRUPT}, [&](calpe_error* error) {
        return calpe_count_recoverable(&spec, counts.data(), capacity, error);
      });
  std::array<std::uint16_t, 128> rows = {};
  checked({CALPE_ERROR_INVALID_ARGUMENT, CALPE_ERROR_CORRUPT}, [&](calpe_error* error) {
    return calpe_parity_rows(&spec, rows.data(), input_.byte() % (rows.size() + 1), error);
  });
  require(counted != CALPE_OK || proven == CALPE_OK, "only valid codes are counted");
  if (counted != CALPE_OK) return;
  for (std::size_t i = 0; i < capacity && counts[i].losses != 0; ++i) {
    require(counts[i].losses == i + 1, "counts are in order");
    require(counts[i].recoverable <= counts[i].patterns, "at most all patterns are recoverable");
    require(counts[i].losses > proof.losses || counts[i].recoverable == counts[i].patterns,
            "proven losses can be rebuilt");
  }
}

Indices Session::any_indices(unsigned shards, unsigned most) {
  Indices list;
  const std::uint8_t mode = input_.byte();
  const unsigned count = mode % (most + 1);
  for (unsigned i = 0; i < count; ++i) {
    // One in 16 lists has arbitrary entries.
    list.push_back(
        static_cast<std::uint16_t>(mode >= 240 ? 2U * input_.byte() : input_.byte() % shards));
  }
  // Mostly without duplicates.
  if ((mode & 32U) == 0) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return list;
}

void Session::make_decode_plan(HeldCodec& held) {
  const unsigned shards = held.model.shards();
  const Indices wanted = any_indices(shards, held.model.parity + 1);
  Indices available;
  if (input_.below(4) == 0) {
    available = any_indices(shards, shards + 1);
  } else {  // all but the wanted shards, and some more
    const unsigned also = input_.byte();
    for (unsigned i = 0; i < shards; ++i) {
      if (!contains(wanted, i) && (also % 4 != 0 || i != also / 4 % shards))
        available.push_back(static_cast<std::uint16_t>(i));
    }
  }
  std::vector<std::uint32_t> costs;
  for (std::size_t i = 0; input_.coin() && i < available.size(); ++i)
    costs.push_back(input_.byte());
  costs.resize(costs.empty() ? 0 : available.size());
  calpe_status status = CALPE_OK;
  PlanHandle plan = checked_handle<PlanHandle>(
      {CALPE_ERROR_INVALID_ARGUMENT, CALPE_ERROR_UNRECOVERABLE},
      [&](calpe_plan** out, calpe_error* error) {
        status =
            calpe_plan_decode(held.codec.get(), available.data(), available.size(), wanted.data(),
                              wanted.size(), costs.empty() ? nullptr : costs.data(), out, error);
        return status;
      });
  const bool is_sound = all_below(wanted, shards) && all_below(available, shards) &&
                        !has_double(wanted) && !has_double(available);
  require(is_sound || status == CALPE_ERROR_INVALID_ARGUMENT, "wrong indices are refused");
  if (is_sound && !wanted.empty()) {
    std::size_t sources = 0;
    for (const std::uint16_t i : available)
      sources += contains(wanted, i) ? 0U : 1U;
    if (sources + held.model.losses >= shards) require(status == CALPE_OK, "few losses");
    if (held.model.is_mds() && sources < held.model.data)
      require(status == CALPE_ERROR_UNRECOVERABLE, "k shards are needed");
  }
  if (plan == nullptr) return;
  HeldPlan made = hold_plan(std::move(plan), held.spec, true);
  require(made.writes == wanted, "writes are what was wanted, in that order");
  for (const std::uint16_t i : made.reads)
    require(contains(available, i) && !contains(wanted, i),
            "reads available shards that are not wanted");
  keep(std::move(made));
}

void Session::make_update_plan(HeldCodec& held) {
  const auto data_index = static_cast<std::uint16_t>(input_.below(held.model.data + 1));
  Indices parity = any_indices(held.model.parity, held.model.parity + 1);
  for (std::uint16_t& i : parity)
    i = static_cast<std::uint16_t>(i + held.model.data);
  PlanHandle plan = checked_handle<PlanHandle>(
      {CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_plan** out, calpe_error* error) {
        return calpe_plan_update(held.codec.get(), data_index, parity.data(), parity.size(), out,
                                 error);
      });
  const bool is_sound =
      data_index < held.model.data && !has_double(parity) && all_below(parity, held.model.shards());
  require((plan != nullptr) == is_sound, "only valid updates have a plan");
  if (plan == nullptr) return;
  HeldPlan made = hold_plan(std::move(plan), held.spec, false);
  require(made.reads.size() == 1 && made.reads[0] == data_index, "reads the change");
  require(parity.empty() || made.writes == parity, "writes the given parity, in that order");
  for (std::size_t i = 0; i < made.writes.size(); ++i) {
    const unsigned row = made.writes[i] - held.model.data;
    require(made.cells[i] == held.model.rows[row * held.model.data + data_index], "the row's cell");
  }
  keep(std::move(made));
}

void Session::make_partial_plan(HeldCodec& held) {
  const auto& whole = plans_[input_.below(plans_.size())];
  if (!whole) return;
  const Indices of = any_indices(held.model.shards(), held.model.shards());
  PlanHandle plan = checked_handle<PlanHandle>(
      {CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_plan** out, calpe_error* error) {
        return calpe_plan_partial(held.codec.get(), whole->plan.get(), of.data(), of.size(), out,
                                  error);
      });
  if (plan == nullptr) return;
  require(same_spec(held.spec, whole->spec), "a plan of another code is refused");
  HeldPlan made = hold_plan(std::move(plan), held.spec, false);
  require(made.writes == whole->writes, "writes the same");
  for (std::size_t c = 0; c < made.reads.size(); ++c) {
    const auto found = std::find(whole->reads.begin(), whole->reads.end(), made.reads[c]);
    require(found != whole->reads.end() && contains(of, made.reads[c]), "reads held shards");
    const auto column = static_cast<std::size_t>(found - whole->reads.begin());
    for (std::size_t r = 0; r < made.writes.size(); ++r)
      require(
          made.cells[r * made.reads.size() + c] == whole->cells[r * whole->reads.size() + column],
          "coefficients stay");
  }
  keep(std::move(made));
}

}  // namespace calpe::fuzz
