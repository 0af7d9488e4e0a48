// SPDX-License-Identifier: Apache-2.0
// Objects and stored specs of a session.
#include <string>

#include "fuzz/capi_session.hpp"

namespace calpe::fuzz {

namespace {

constexpr unsigned object_bytes_most = 160;

}  // namespace

// An object of any length, in shards of any length: parity is that of shards padded with zeros, and
// lost data shards are rebuilt in place.
void Session::object(HeldCodec& held) {
  const CodeModel& model = held.model;
  const calpe_codec* const codec = held.codec.get();
  const std::size_t bytes = input_.below(object_bytes_most);
  const std::size_t multiple = calpe_shard_bytes_multiple(codec);
  const std::size_t least = calpe_shard_bytes_for(codec, bytes);
  require(least % multiple == 0 && least * model.data >= bytes, "the object fits");
  require(least == 0 || (least - multiple) * model.data < bytes, "the shards are short");
  std::size_t shard_bytes = least;
  if (input_.coin()) shard_bytes = input_.below(object_bytes_most);
  const bool is_sound = shard_bytes >= least && shard_bytes % multiple == 0;
  std::uint8_t next = input_.byte();
  Bytes object(bytes);
  for (std::uint8_t& byte : object)
    byte = next = static_cast<std::uint8_t>(next * 5U + 33U);
  const Bytes before = object;

  std::vector<const void*> data(model.data);
  std::vector<std::size_t> lengths(model.data);
  const calpe_status status = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
    return calpe_split(codec, object.data(), bytes, shard_bytes, data.data(), lengths.data(),
                       error);
  });
  require((status == CALPE_OK) == is_sound, "exactly allowed lengths are accepted");
  std::vector<Bytes> parity(model.parity, Bytes(model.parity_bytes(shard_bytes), 0x66));
  const auto targets = addresses<void*>(parity);
  const calpe_status encoded_status =
      checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
        return calpe_encode_object(codec, object.data(), bytes, targets.data(), shard_bytes, error);
      });
  require(encoded_status == status, "split and encode accept the same lengths");
  if (!is_sound) return;

  std::vector<Bytes> shards(model.data, Bytes(shard_bytes));
  for (unsigned i = 0; i < model.data; ++i) {
    const auto* const from = static_cast<const std::uint8_t*>(data[i]);
    require((from == nullptr) == (lengths[i] == 0) && lengths[i] <= shard_bytes, "a part");
    std::copy_n(from, lengths[i], shards[i].begin());
  }
  require(parity == encoded(model, shards, shard_bytes), "parity of the padded object");
  require(object == before, "an encoded object is unchanged");

  const auto& plan = plans_[input_.below(plans_.size())];
  if (!plan || !plan->is_decode) return;
  const bool is_same = same_spec(plan->spec, held.spec);
  const bool is_data = all_below(plan->writes, model.data);
  for (const std::uint16_t i : plan->writes) {
    if (!is_same || i >= model.data || lengths[i] == 0) continue;
    std::fill_n(object.begin() + static_cast<std::ptrdiff_t>(i * shard_bytes), lengths[i],
                std::uint8_t{0xEE});
  }
  std::vector<const void*> read(model.parity);
  for (const std::uint16_t i : plan->reads) {
    if (i >= model.data && i < model.shards()) read[i - model.data] = parity[i - model.data].data();
  }
  const calpe_status decoded = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
    return calpe_decode_object(codec, plan->plan.get(), object.data(), bytes, read.data(),
                               shard_bytes, error);
  });
  require((decoded == CALPE_OK) == (is_same && is_data), "plans of this code that write data");
  if (decoded == CALPE_OK) require(object == before, "the object is rebuilt");
}

// The bytes of a codec's spec, changed or not, or any bytes: decoding gives the same spec, or an
// error, or a spec with exactly these bytes.
void Session::spec_bytes() {
  std::array<std::uint8_t, CALPE_SPEC_BYTES> stored = {};
  const auto& held = codecs_[input_.below(codecs_.size())];
  const calpe_spec any = held ? held->spec : any_spec();
  const calpe_status status = checked({CALPE_ERROR_INVALID_ARGUMENT}, [&](calpe_error* error) {
    return calpe_spec_encode(&any, stored.data(), stored.size(), error);
  });
  require(!held || status == CALPE_OK, "the spec of a codec has bytes");
  auto changed = stored;
  for (unsigned changes = input_.below(4); changes > 0; --changes)
    changed[input_.below(changed.size())] = input_.byte();
  const std::size_t count =
      input_.below(8) == 7 ? input_.below(changed.size() + 1) : changed.size();
  calpe_spec decoded = CALPE_SPEC_INIT;
  const calpe_status read = checked({CALPE_ERROR_CORRUPT}, [&](calpe_error* error) {
    return calpe_spec_decode(changed.data(), count, &decoded, error);
  });
  if (changed == stored && count == stored.size() && status == CALPE_OK) {
    // A zero in `any` may mean a default, which is written as its value.
    require(read == CALPE_OK && (!held || same_spec(decoded, any)), "a spec is read as written");
  }
  if (read != CALPE_OK) return;
  require(decoded.family != CALPE_FAMILY_DEFAULT && decoded.matrix_hash != 0, "a resolved spec");
  auto again = stored;
  const calpe_status written = checked({}, [&](calpe_error* error) {
    return calpe_spec_encode(&decoded, again.data(), again.size(), error);
  });
  require(written == CALPE_OK && again == changed, "equal specs have equal bytes");
}

}  // namespace calpe::fuzz
