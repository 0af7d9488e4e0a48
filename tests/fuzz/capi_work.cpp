// SPDX-License-Identifier: Apache-2.0
// Work of a session: every call gives the model's bytes and writes nothing else.
#include <calpe/streams.h>

#include "fuzz/capi_session.hpp"

namespace calpe::fuzz {

namespace {

constexpr unsigned shard_bytes_most = 48;

bool is_whole(const HeldCodec& held, std::size_t shard_bytes) {
  return shard_bytes % calpe_shard_bytes_multiple(held.codec.get()) == 0;
}

}  // namespace

void Session::encode(HeldCodec& held) {
  const std::size_t multiple = calpe_shard_bytes_multiple(held.codec.get());
  std::size_t bytes = input_.below(shard_bytes_most);
  if (multiple > 1 && input_.below(8) != 0) bytes = multiple * (bytes % 3);
  std::uint8_t next = input_.byte();
  std::vector<Bytes> shards;
  for (unsigned i = 0; i < held.model.shards(); ++i) {
    shards.emplace_back(held.model.bytes_of(i, bytes));
    for (std::uint8_t& byte : shards.back())
      byte = next = static_cast<std::uint8_t>(next * 5U + 33U);
  }
  require(calpe_parity_bytes(held.codec.get(), bytes) == held.model.parity_bytes(bytes),
          "bytes of a parity shard");
  const auto all = addresses<void*>(shards);
  const calpe_status status = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
    return calpe_encode(held.codec.get(), all.data(), all.data() + held.model.data, bytes, error);
  });
  require((status == CALPE_OK) == is_whole(held, bytes), "exactly allowed lengths are accepted");
  if (status != CALPE_OK) return;
  const std::vector<Bytes> parity = encoded(held.model, shards, bytes);
  for (unsigned i = 0; i < held.model.parity; ++i)
    require(shards[held.model.data + i] == parity[i], "encode gives the model's parity");
  held.shards = std::move(shards);
  held.shard_bytes = bytes;
}

std::vector<Bytes> Session::expected_of(const HeldCodec& held, const HeldPlan& plan,
                                        std::vector<Bytes> outputs) const {
  std::vector<const Bytes*> inputs;
  for (const std::uint16_t i : plan.reads)
    inputs.push_back(&held.shards[i]);
  apply(held.model, plan.cells, inputs, outputs, held.shard_bytes);
  return outputs;
}

// Runs one stripe with calpe_run, or in pieces.
void Session::run_plan(HeldCodec& held) {
  const auto& plan = plans_[input_.below(plans_.size())];
  if (!plan || held.shards.empty()) return;
  const bool is_same = same_spec(plan->spec, held.spec);
  // The buffers would be too few or too short for a plan of another code.
  if (!is_same && plan->reads.size() + plan->writes.size() > held.shards.size()) return;
  const std::uint32_t flags = input_.below(10);
  const bool accumulates = (flags & CALPE_RUN_ACCUMULATE) != 0;
  std::vector<Bytes> outputs;
  for (const std::uint16_t i : plan->writes)
    outputs.emplace_back(held.model.parity_bytes(held.shard_bytes) + (is_same ? 0 : 64),
                         static_cast<std::uint8_t>(i * 7U + 1U));
  if (is_same) {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      outputs[i].resize(held.model.bytes_of(plan->writes[i], held.shard_bytes));
  }
  std::vector<const void*> inputs;
  for (const std::uint16_t i : plan->reads)
    inputs.push_back(held.shards[i % held.shards.size()].data());
  std::vector<Bytes> before = outputs;
  if (!accumulates) {
    for (Bytes& output : before)
      std::fill(output.begin(), output.end(), std::uint8_t{0});
  }
  auto targets = addresses<void*>(outputs);
  const bool overlaps = input_.below(16) == 15 && !inputs.empty() && !targets.empty();
  if (overlaps) targets[0] = held.shards[plan->reads[0] % held.shards.size()].data();
  const std::size_t cut = input_.byte();
  calpe_status status = CALPE_OK;
  if (cut % 2 == 0) {
    status = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
      return calpe_run(held.codec.get(), plan->plan.get(), inputs.data(), targets.data(),
                       held.shard_bytes, flags, error);
    });
  } else {
    std::vector<std::array<calpe_const_piece, 2>> read;
    std::vector<std::array<calpe_piece, 2>> written;
    std::vector<calpe_const_pieces> from;
    std::vector<calpe_pieces> to;
    const auto add = [&](auto& pieces, void* shard, std::size_t bytes) {
      const std::size_t first = std::min(bytes, cut % 31);
      pieces.push_back(
          {{{shard, first}, {static_cast<std::uint8_t*>(shard) + first, bytes - first}}});
    };
    for (const std::uint16_t i : plan->reads) {
      Bytes& shard = held.shards[i % held.shards.size()];
      add(read, shard.data(), held.model.bytes_of(i, held.shard_bytes));
      if (read.back()[0].bytes + read.back()[1].bytes > shard.size()) return;
    }
    for (std::size_t i = 0; i < targets.size(); ++i)
      add(written, targets[i], held.model.bytes_of(plan->writes[i], held.shard_bytes));
    if (overlaps && written.back()[1].bytes > held.shard_bytes) return;
    for (const auto& two : read)
      from.push_back({two.data(), two.size()});
    for (const auto& two : written)
      to.push_back({two.data(), two.size()});
    status = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
      return calpe_run_pieces(held.codec.get(), plan->plan.get(), from.data(), to.data(), flags,
                              error);
    });
  }
  const bool has_flags = flags < 8 && (flags & (CALPE_RUN_CACHED | CALPE_RUN_STREAMING)) != 6;
  if (!has_flags || !is_same) require(status != CALPE_OK, "unknown flags, another code");
  if (status != CALPE_OK || !is_same) return;
  if (overlaps) {
    require(held.shard_bytes == 0, "overlapping shards are refused");
    return;
  }
  run_prepared(held, *plan, inputs, before, flags, outputs);
  const std::vector<Bytes> expected = expected_of(held, *plan, std::move(before));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    require(outputs[i] == expected[i], "a plan gives the sums of its coefficients");
    if (plan->is_decode && !accumulates)
      require(outputs[i] == held.shards[plan->writes[i]], "a decode gives the shard");
  }
}

// Runs the same plan prepared, as one stripe and as two, and expects the same outputs.
void Session::run_prepared(HeldCodec& held, const HeldPlan& plan, std::vector<const void*> inputs,
                           const std::vector<Bytes>& before, std::uint32_t flags,
                           const std::vector<Bytes>& expected) {
  calpe_prepared* prepared = nullptr;
  const calpe_status made = checked({}, [&](calpe_error* error) {
    return calpe_prepare(held.codec.get(), plan.plan.get(), held.shard_bytes, flags, &prepared,
                         error);
  });
  require(made == CALPE_OK && prepared != nullptr, "what runs can be prepared");
  // The fuzzer's codecs run on the CPU, which takes no stream.
  calpe_queue_plan* queued = nullptr;
  const calpe_status refused = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
    return calpe_queue_plan_create(held.codec.get(), plan.plan.get(), held.shard_bytes, flags,
                                   &queued, error);
  });
  require(refused != CALPE_OK && queued == nullptr, "the CPU takes no stream");
  std::vector<Bytes> one = before;
  auto targets = addresses<void*>(one);
  const calpe_status ran = checked({}, [&](calpe_error* error) {
    return calpe_prepared_run(prepared, inputs.data(), targets.data(), error);
  });
  require(ran == CALPE_OK && one == expected, "a prepared plan does the same");

  std::vector<Bytes> two = before;
  two.insert(two.end(), before.begin(), before.end());
  targets = addresses<void*>(two);
  const std::vector<const void*> again = inputs;
  inputs.insert(inputs.end(), again.begin(), again.end());
  const calpe_status batch = checked({}, [&](calpe_error* error) {
    return calpe_prepared_run_batch(prepared, 2, inputs.data(), targets.data(), error);
  });
  const auto half = two.begin() + static_cast<std::ptrdiff_t>(before.size());
  require(batch == CALPE_OK && std::equal(two.begin(), half, expected.begin()) &&
              std::equal(half, two.end(), expected.begin()),
          "so does a batch");
  if (plan.reads.size() == 1 && plan.writes.size() == 1) {
    Bytes strided = before[0];
    const calpe_strided_inputs from{inputs[0], 0, 0};
    const calpe_strided_outputs to{strided.data(), 0, 0};
    const calpe_status done = checked({}, [&](calpe_error* error) {
      return calpe_prepared_run_strided(prepared, 1, &from, &to, error);
    });
    require(done == CALPE_OK && strided == expected[0], "so do shards at a stride");
  }
  calpe_prepared_destroy(prepared);
}

// Runs several stripes in one call, at once or later.
void Session::run_many(HeldCodec& held) {
  const auto& plan = plans_[input_.below(plans_.size())];
  if (!plan || held.shards.empty() || !same_spec(plan->spec, held.spec)) return;
  const unsigned count = input_.below(5);
  std::vector<const void*> inputs;
  for (const std::uint16_t i : plan->reads)
    inputs.push_back(held.shards[i].data());
  std::vector<std::vector<Bytes>> outputs(count);
  std::vector<std::vector<void*>> targets(count);
  std::vector<calpe_stripe> stripes;
  for (unsigned s = 0; s < count; ++s) {
    for (const std::uint16_t i : plan->writes)
      outputs[s].emplace_back(held.model.bytes_of(i, held.shard_bytes), std::uint8_t{0x33});
    targets[s] = addresses<void*>(outputs[s]);
    stripes.push_back({inputs.data(), targets[s].data(), held.shard_bytes});
  }
  const calpe_status status = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
    if (input_.coin())
      return calpe_run_batch(held.codec.get(), plan->plan.get(), stripes.data(), count, 0, error);
    calpe_pending* pending = nullptr;
    const calpe_status begun =
        calpe_submit(held.codec.get(), plan->plan.get(), stripes.data(), count, 0, &pending, error);
    return begun != CALPE_OK ? begun : calpe_wait(pending, error);
  });
  require(status == CALPE_OK, "valid stripes are run");
  for (std::vector<Bytes>& stripe : outputs) {
    std::vector<Bytes> zeros;
    for (const Bytes& shard : stripe)
      zeros.emplace_back(shard.size());
    require(stripe == expected_of(held, *plan, std::move(zeros)), "every stripe of a batch");
  }
}

void Session::update(HeldCodec& held) {
  if (held.shards.empty()) return;
  const CodeModel& model = held.model;
  const auto changed = static_cast<std::uint16_t>(input_.below(model.data + (input_.below(8) / 7)));
  const std::size_t offset = input_.below(shard_bytes_most);
  Bytes delta(input_.below(shard_bytes_most));
  if (input_.below(8) != 0 && offset <= held.shard_bytes)
    delta.resize(std::min(delta.size(), held.shard_bytes - offset));
  for (std::uint8_t& byte : delta)
    byte = input_.byte();
  Indices named = any_indices(model.parity, model.parity + 1);
  if (input_.coin()) named.clear();
  std::reverse(named.begin(), named.end());
  std::vector<Bytes> parity;
  for (std::size_t i = 0; i < (named.empty() ? model.parity : named.size()); ++i) {
    if (!named.empty()) named[i] = static_cast<std::uint16_t>(named[i] + model.data);
    const std::size_t shard = named.empty() ? model.data + i : named[i];
    parity.push_back(held.shards[shard < held.shards.size() ? shard : model.data]);
  }
  const auto targets = addresses<void*>(parity);
  const bool is_sound = changed < model.data && offset <= held.shard_bytes &&
                        delta.size() <= held.shard_bytes - offset && !has_double(named) &&
                        all_below(named, model.shards());
  const calpe_status status = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
    if (!is_sound || input_.coin())
      return calpe_update(held.codec.get(), changed, offset, delta.data(), delta.size(),
                          named.data(), named.size(), targets.data(), held.shard_bytes, error);
    Bytes now(held.shards[changed].begin() + static_cast<std::ptrdiff_t>(offset),
              held.shards[changed].begin() + static_cast<std::ptrdiff_t>(offset + delta.size()));
    const Bytes was = now;
    for (std::size_t i = 0; i < delta.size(); ++i)
      now[i] ^= delta[i];
    return calpe_update_from(held.codec.get(), changed, offset, was.data(), now.data(), now.size(),
                             named.data(), named.size(), targets.data(), held.shard_bytes, error);
  });
  require((status == CALPE_OK) == is_sound, "exactly valid updates are done");
  if (!is_sound) return;
  std::vector<Bytes> after = held.shards;
  for (std::size_t i = 0; i < delta.size(); ++i)
    after[changed][offset + i] ^= delta[i];
  const std::vector<Bytes> again = encoded(model, after, held.shard_bytes);
  for (std::size_t i = 0; i < parity.size(); ++i) {
    const std::size_t row = named.empty() ? i : named[i] - std::size_t{model.data};
    require(parity[i] == again[row], "an update equals encoding again");
  }
  for (unsigned i = 0; i < model.parity; ++i)
    after[model.data + i] = again[i];
  held.shards = std::move(after);
}

// Returns copies of the shards; those in `wrong` are changed.
std::vector<Bytes> Session::damaged(const HeldCodec& held, Indices& wrong) {
  std::vector<Bytes> shards = held.shards;
  wrong = any_indices(held.model.shards(), held.model.parity);
  std::erase_if(wrong, [&](unsigned i) { return i >= shards.size() || shards[i].empty(); });
  std::sort(wrong.begin(), wrong.end());
  wrong.erase(std::unique(wrong.begin(), wrong.end()), wrong.end());
  for (const std::uint16_t i : wrong) {
    const std::size_t at = input_.byte() % shards[i].size();
    shards[i][at] ^= static_cast<std::uint8_t>(1 + input_.below(255));
  }
  return shards;
}

void Session::verify(HeldCodec& held) {
  if (held.shards.empty()) return;
  Indices changed;
  std::vector<Bytes> shards = damaged(held, changed);
  const std::vector<Bytes> right = encoded(held.model, shards, held.shard_bytes);
  const auto all = addresses<const void*>(shards);
  Indices wrong(held.model.parity);
  const std::size_t capacity = input_.below(wrong.size() + 1);
  std::size_t count = 0;
  const calpe_status status = checked({}, [&](calpe_error* error) {
    return calpe_verify(held.codec.get(), all.data(), all.data() + held.model.data,
                        held.shard_bytes, wrong.data(), capacity, &count, error);
  });
  require(status == CALPE_OK, "a stripe can be verified");
  Indices expected;
  for (unsigned i = 0; i < held.model.parity; ++i) {
    const auto shard = static_cast<std::uint16_t>(held.model.data + i);
    if (shards[shard] != right[i]) expected.push_back(shard);
  }
  require(count == expected.size(), "verify counts the parity shards that are not the model's");
  for (std::size_t i = 0; i < std::min(capacity, count); ++i)
    require(wrong[i] == expected[i], "verify names the parity shards that are not the model's");
}

void Session::locate(HeldCodec& held) {
  if (held.shards.empty()) return;
  Indices changed;
  std::vector<Bytes> shards = damaged(held, changed);
  const Indices missing = any_indices(held.model.shards(), held.model.parity);
  auto all = addresses<const void*>(shards);
  for (const std::uint16_t i : missing)
    if (i < all.size()) all[i] = nullptr;
  std::erase_if(changed, [&](unsigned i) { return contains(missing, i); });
  Indices wrong(held.model.shards());
  std::size_t count = 0;
  const calpe_status status =
      checked({CALPE_ERROR_INVALID_ARGUMENT, CALPE_ERROR_UNRECOVERABLE, CALPE_ERROR_AMBIGUOUS},
              [&](calpe_error* error) {
                return calpe_locate(held.codec.get(), all.data(), held.shard_bytes, missing.data(),
                                    missing.size(), wrong.data(), wrong.size(), &count, error);
              });
  const bool is_sound = all_below(missing, held.model.shards()) && !has_double(missing);
  require((status == CALPE_ERROR_INVALID_ARGUMENT) == !is_sound, "wrong indices are refused");
  if (is_sound && missing.size() >= held.model.parity) {
    require(status == CALPE_ERROR_UNRECOVERABLE, "no check is left");
    return;
  }
  if (!is_sound || missing.size() + 2 * changed.size() > held.model.losses) return;
  require(status == CALPE_OK, "few wrong shards are located");
  wrong.resize(count);
  require(wrong == changed, "locate names the wrong shards, and no others");
}

// Rebuilds one or two whole stripes after any loss, with some buffers NULL and any flags.
void Session::rebuild(HeldCodec& held) {
  if (held.shards.empty()) return;
  const unsigned count = held.model.shards();
  const Indices lost = any_indices(count, held.model.parity + 1);
  const unsigned unwanted = input_.below(2 * count);  // no buffer if it is lost
  const std::uint32_t flags = input_.below(8) == 7 ? input_.word() : 256 * input_.below(2);
  const bool data_only = (flags & CALPE_REBUILD_DATA_ONLY) != 0;
  const unsigned form = input_.below(8);
  std::vector<std::uint8_t> present(count, std::uint8_t{1});
  std::vector<Bytes> shards = held.shards;
  auto all = addresses<void*>(shards);
  unsigned written = 0;
  unsigned lost_count = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (!contains(lost, i)) continue;
    present[i] = 0;
    ++lost_count;
    std::fill(shards[i].begin(), shards[i].end(), std::uint8_t{0x33});
    if (i == unwanted) all[i] = nullptr;
    // The data of an empty vector may have an address.
    if (all[i] != nullptr && (i < held.model.data || !data_only)) ++written;
  }
  std::vector<Bytes> expected = held.shards;
  for (unsigned i = 0; i < count; ++i) {
    if (present[i] == 0 && (i == unwanted || (data_only && i >= held.model.data)))
      expected[i] = shards[i];
  }
  if (form == 7 && present[0] != 0 && held.shard_bytes > 0) all[0] = nullptr;
  const bool lacks_shard = present[0] != 0 && all[0] == nullptr && held.shard_bytes > 0;
  std::vector<Bytes> more = shards;
  auto others = addresses<void*>(more);
  for (unsigned i = 0; i < count; ++i)
    if (all[i] == nullptr) others[i] = nullptr;
  const calpe_whole_stripe stripes[] = {{all.data(), held.shard_bytes},
                                        {others.data(), held.shard_bytes}};
  const bool is_batch = form % 2 == 1;
  const calpe_status status =
      checked({CALPE_ERROR_INVALID_ARGUMENT, CALPE_ERROR_UNRECOVERABLE}, [&](calpe_error* error) {
        return is_batch
                   ? calpe_rebuild_batch(held.codec.get(), stripes, 2, present.data(), flags, error)
                   : calpe_rebuild(held.codec.get(), all.data(), present.data(), held.shard_bytes,
                                   flags, error);
      });
  const std::uint32_t hints = flags & (CALPE_RUN_CACHED | CALPE_RUN_STREAMING);
  const bool has_flags = (flags & ~(CALPE_REBUILD_DATA_ONLY | 6U)) == 0 && hints != 6;
  if (!has_flags || lacks_shard) {
    require(status == CALPE_ERROR_INVALID_ARGUMENT, "unknown flags, a present shard is NULL");
    return;
  }
  if (written > 0 && lost_count <= held.model.losses)
    require(status == CALPE_OK, "few losses are rebuilt");
  if (written > 0 && held.model.is_mds() && lost_count > held.model.parity)
    require(status == CALPE_ERROR_UNRECOVERABLE, "k shards are needed");
  if (status != CALPE_OK) return;
  require(shards == expected, "rebuild gives the missing shards and writes nothing else");
  if (is_batch) require(more == expected, "a batch rebuilds every stripe");
}

void Session::apply_matrix() {
  const CodeModel model;  // GF(2^8) with the usual polynomial
  calpe_matrix matrix = {};
  matrix.struct_size = sizeof matrix;
  matrix.rows = input_.below(5);
  matrix.columns = input_.below(6);
  matrix.column_stride = input_.below(3);
  const std::size_t step = std::max<std::size_t>(matrix.column_stride, 1);
  if (input_.coin()) matrix.row_stride = matrix.columns * step + input_.below(3);
  const std::size_t row_step = matrix.row_stride == 0 ? matrix.columns * step : matrix.row_stride;
  Bytes cells(matrix.rows * row_step + matrix.columns * step);
  for (std::uint8_t& cell : cells)
    cell = input_.byte();
  matrix.cells = cells.data();
  const std::size_t bytes = input_.below(shard_bytes_most);
  std::vector<Bytes> inputs(matrix.columns, Bytes(bytes));
  for (std::size_t c = 0; c < inputs.size(); ++c)
    for (std::size_t i = 0; i < bytes; ++i)
      inputs[c][i] = static_cast<std::uint8_t>(17 * c + 3 * i + cells[0]);
  std::vector<Bytes> outputs(matrix.rows, Bytes(bytes, std::uint8_t{0x66}));
  const bool accumulates = input_.coin();
  std::vector<Bytes> expected(matrix.rows, Bytes(bytes, std::uint8_t(accumulates ? 0x66 : 0)));
  std::vector<std::uint16_t> packed;
  for (std::size_t r = 0; r < matrix.rows; ++r)
    for (std::size_t c = 0; c < matrix.columns; ++c)
      packed.push_back(cells[r * row_step + c * step]);
  const auto from = addresses<const void*>(inputs);
  const auto to = addresses<void*>(outputs);
  const calpe_status status = checked({}, [&](calpe_error* error) {
    return calpe_apply_matrix(&matrix, from.data(), to.data(), bytes,
                              accumulates ? CALPE_RUN_ACCUMULATE : 0, error);
  });
  require(status == CALPE_OK, "any coefficients can be applied");
  std::vector<const Bytes*> read;
  for (const Bytes& input : inputs)
    read.push_back(&input);
  apply(model, packed, read, expected, bytes);
  require(outputs == expected, "apply_matrix gives the sums");
}

void Session::field() {
  CodeModel model;
  model.word_bits = input_.below(10);
  model.polynomial = input_.coin() ? 0 : input_.word() % 1024;
  const auto a = static_cast<std::uint16_t>(input_.byte() + 256 * input_.below(8) / 7);
  const std::uint16_t b = input_.byte();
  std::uint16_t product = 0;
  const auto multiply = [&](std::uint16_t x, std::uint16_t y) {
    return checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
      return calpe_gf_multiply(model.word_bits, model.polynomial, x, y, &product, error);
    });
  };
  const bool is_product = multiply(a, b) == CALPE_OK;
  if (is_product && model.polynomial != 0) {
    if (model.word_bits == 0) model.word_bits = 8;
    require(product == model.multiply(a, b), "products are the model's");
  }
  std::uint16_t inverse = 0;
  const calpe_status status = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
    return calpe_gf_inverse(model.word_bits, model.polynomial, a, &inverse, error);
  });
  if (status == CALPE_OK)
    require(multiply(a, inverse) == CALPE_OK && product == 1, "a times its inverse is 1");
}

// Passing NULL where it is not allowed must fail.
void Session::pass_null(HeldCodec& held) {
  const calpe_codec* const codec = held.codec.get();
  std::vector<const void*> nulls(held.model.shards());
  std::vector<void*> targets(held.model.shards());
  std::size_t count = 0;
  calpe_error error;
  calpe_plan* plan = nullptr;
  const calpe_status refused[] = {
      calpe_encode(nullptr, nulls.data(), targets.data(), 8, &error),
      calpe_encode(codec, nullptr, targets.data(), 8, &error),
      calpe_encode(codec, nulls.data(), targets.data(), 8, &error),
      calpe_run(codec, nullptr, nulls.data(), targets.data(), 8, 0, &error),
      calpe_update(codec, 0, 0, nullptr, 8, nullptr, 0, targets.data(), 8, &error),
      calpe_update(codec, 0, 0, &count, 8, nullptr, 2, targets.data(), 8, &error),
      calpe_verify(codec, nulls.data(), nulls.data(), 8, nullptr, 0, &count, &error),
      calpe_verify(codec, nulls.data(), nulls.data(), 8, nullptr, 0, nullptr, nullptr),
      calpe_locate(codec, nullptr, 8, nullptr, 0, nullptr, 0, &count, &error),
      calpe_locate(codec, nulls.data(), 8, nullptr, 3, nullptr, 0, &count, &error),
      calpe_rebuild(codec, targets.data(), nullptr, 8, 0, &error),
      calpe_rebuild_batch(codec, nullptr, 1, nullptr, 0, &error),
      calpe_plan_decode(codec, nullptr, 3, nullptr, 0, nullptr, &plan, &error),
      calpe_plan_decode(codec, nullptr, 0, nullptr, 0, nullptr, nullptr, &error),
      calpe_plan_partial(codec, nullptr, nullptr, 0, &plan, &error),
      calpe_submit(codec, nullptr, nullptr, 1, 0, nullptr, &error),
      calpe_prepare(codec, nullptr, 8, 0, nullptr, &error),
      calpe_queue_plan_create(codec, nullptr, 8, 0, nullptr, &error),
      calpe_enqueue_cuda(nullptr, nullptr, 1, nulls.data(), targets.data(), nullptr, 0, &error),
      calpe_enqueue_opencl(nullptr, nullptr, 1, nulls.data(), targets.data(), nullptr, 0, &error),
      calpe_codec_create(nullptr, nullptr, nullptr, &error),
      calpe_spec_encode(nullptr, &count, sizeof count, &error),
      calpe_spec_decode(nullptr, CALPE_SPEC_BYTES, nullptr, &error),
      calpe_split(codec, nullptr, 8, 8, nulls.data(), &count, &error),
      calpe_encode_object(codec, nullptr, 8, targets.data(), 8, &error),
      calpe_encode_object(codec, &count, 8, targets.data(), 8, &error),
      calpe_decode_object(codec, nullptr, &count, 8, nulls.data(), 8, &error),
      calpe_apply_matrix(nullptr, nulls.data(), targets.data(), 8, 0, &error),
      calpe_encode_stream(codec, nullptr, nullptr, nullptr, nullptr, nullptr, &error),
      calpe_decode_stream(codec, nullptr, 8, nullptr, nullptr, nullptr, &error),
      calpe_stream_encoder_create(codec, nullptr, nullptr, nullptr, nullptr, &error),
      calpe_stream_encoder_write(nullptr, &count, 8, &error),
      calpe_stream_encoder_finish(nullptr, nullptr, &error),
      calpe_stream_decoder_create(codec, nullptr, 8, nullptr, nullptr, nullptr, &error),
      calpe_stream_decoder_write(nullptr, nulls.data(), &error),
      calpe_stream_decoder_finish(nullptr, &error),
      calpe_add(nullptr, nulls.data(), 8, &error)};
  for (const calpe_status status : refused)
    require(status == CALPE_ERROR_INVALID_ARGUMENT, "NULL is refused");
  require(plan == nullptr, "no plan of nothing");
  require(calpe_wait(nullptr, &error) == CALPE_OK, "nothing can be waited for");
}

}  // namespace calpe::fuzz
