// SPDX-License-Identifier: Apache-2.0
// calpe.h: queries that need no codec, and field arithmetic.
#include <string>
#include <string_view>
#include <vector>

#include <calpe/galois.hpp>
#include <calpe/techniques.hpp>

#include "capi/capi_support.hpp"

using namespace calpe;
using namespace calpe::capi;

namespace {

// The header must name the version of CMakeLists.txt, which defines CALPE_VERSION.
#define CALPE_TEXT_OF(number) #number
#define CALPE_VERSION_TEXT(major, minor, patch) \
  CALPE_TEXT_OF(major) "." CALPE_TEXT_OF(minor) "." CALPE_TEXT_OF(patch)
static_assert(std::string_view(CALPE_VERSION_TEXT(CALPE_VERSION_MAJOR, CALPE_VERSION_MINOR,
                                                  CALPE_VERSION_PATCH)) == CALPE_VERSION,
              "set CALPE_VERSION_* in calpe.h to the version of CMakeLists.txt");

// Returns item `index` of a list that is built once, or NULL after the last. Also returns NULL if
// memory runs out; the next call then tries again.
template <class Make>
auto item_at(std::size_t index, const Make& make) noexcept -> const
    typename decltype(make())::value_type* {
  try {
    static const auto items = make();
    return index < items.size() ? &items[index] : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

uint32_t calpe_abi_version(void) {
  return CALPE_ABI_VERSION;
}

const char* calpe_version_string(void) {
  return version().data();
}

const calpe_profile* calpe_profile_at(size_t index) {
  // Profile holds views of string literals, so data() is null-terminated.
  return item_at(index, [] {
    std::vector<calpe_profile> made;
    for (const Profile& p : list_profiles()) {
      made.push_back({.struct_size = sizeof(calpe_profile),
                      .name = p.name.data(),
                      .construction = p.construction.data(),
                      .compatible = p.compatible.data(),
                      .family = static_cast<uint32_t>(p.family),
                      .bytes_layout = p.bytes_layout,
                      .packets_layout = p.packets_layout});
    }
    return made;
  });
}

int calpe_backend_at(size_t index, calpe_backend_info* info) {
  if (info == nullptr || info->struct_size == 0) return 0;
  try {
    const std::vector<BackendInfo> backends = list_backends();
    if (index >= backends.size()) return 0;
    calpe_backend_info full{};
    copy_text(backends[index].name, full.name);
    copy_text(backends[index].description, full.description);
    copy_text(backends[index].reason, full.reason);
    full.available = backends[index].available ? 1 : 0;
    write_struct(full, info);
    return 1;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

const calpe_technique* calpe_technique_at(size_t index) {
  // Views of string literals, as above.
  return item_at(index, [] {
    std::vector<calpe_technique> made;
    for (const TechniqueInfo& t : list_techniques()) {
      made.push_back({.struct_size = sizeof(calpe_technique),
                      .name = t.name.data(),
                      .description = t.description.data(),
                      .built = t.built});
    }
    return made;
  });
}

const char* calpe_proof_kind_name(uint32_t kind) {
  if (kind > CALPE_PROOF_UNDECIDED) return nullptr;  // checked before the value is narrowed to Kind
  const std::string_view name = proof_kind_name(static_cast<CodeProof::Kind>(kind));
  return name.empty() ? nullptr : name.data();
}

calpe_status calpe_prove(const calpe_spec* spec, calpe_proof* proof, calpe_error* error) {
  return walled(error, [&] {
    if (proof == nullptr || proof->struct_size == 0) {
      return null_argument("proof is NULL or its struct_size is 0; expected sizeof(calpe_proof)",
                           error);
    }
    const auto full = to_spec(spec);
    if (!full) return fail(full.error(), error);
    const auto proven = prove(*full);
    if (proven) fill_proof(*proven, proof);
    return finish(proven, error);
  });
}

calpe_status calpe_parity_rows(const calpe_spec* spec, uint16_t* rows, size_t capacity,
                               calpe_error* error) {
  return walled(error, [&] {
    const auto full = to_spec(spec);
    if (!full) return fail(full.error(), error);
    const auto made = parity_rows(*full);
    if (!made) return fail(made.error(), error);
    if (rows == nullptr || capacity < made->size()) {
      return null_argument("rows is NULL or capacity is below data_shards * parity_shards", error);
    }
    copy_list<uint16_t>(*made, rows, capacity);
    return succeed(error);
  });
}

calpe_status calpe_count_recoverable(const calpe_spec* spec, calpe_pattern_count* counts,
                                     size_t capacity, calpe_error* error) {
  return walled(error, [&] {
    const auto full = to_spec(spec);
    if (!full) return fail(full.error(), error);
    const char* const too_few = "counts is NULL or capacity is below parity_shards";
    // Counting may take a minute, so refuse invalid arguments first.
    if (counts == nullptr || capacity < full->parity_shards) return null_argument(too_few, error);
    const auto made = count_recoverable(*full);
    if (!made) return fail(made.error(), error);
    if (capacity < made->size()) return null_argument(too_few, error);
    for (std::size_t i = 0; i < made->size(); ++i) {
      counts[i] = {(*made)[i].losses, (*made)[i].patterns, (*made)[i].recoverable};
    }
    return succeed(error);
  });
}

namespace {

Result<GaloisField> open_field(uint32_t word_bits, uint32_t polynomial) {
  return GaloisField::create(word_bits == 0 ? 8 : word_bits, polynomial);
}

}  // namespace

calpe_status calpe_gf_multiply(uint32_t word_bits, uint32_t polynomial, uint16_t a, uint16_t b,
                               uint16_t* product, calpe_error* error) {
  return walled(error, [&] {
    if (product == nullptr) return null_argument("product is NULL", error);
    const auto field = open_field(word_bits, polynomial);
    if (!field) return fail(field.error(), error);
    const auto result = field->multiply(a, b);
    if (result) *product = *result;
    return finish(result, error);
  });
}

calpe_status calpe_gf_inverse(uint32_t word_bits, uint32_t polynomial, uint16_t a,
                              uint16_t* inverse, calpe_error* error) {
  return walled(error, [&] {
    if (inverse == nullptr) return null_argument("inverse is NULL", error);
    const auto field = open_field(word_bits, polynomial);
    if (!field) return fail(field.error(), error);
    const auto result = field->inverse(a);
    if (result) *inverse = *result;
    return finish(result, error);
  });
}

calpe_status calpe_gf_invert_matrix(uint32_t word_bits, uint32_t polynomial, const uint16_t* matrix,
                                    size_t size, uint16_t* inverse, calpe_error* error) {
  return walled(error, [&] {
    if (matrix == nullptr || inverse == nullptr) {
      return null_argument("matrix or inverse is NULL", error);
    }
    const auto field = open_field(word_bits, polynomial);
    if (!field) return fail(field.error(), error);
    if (size > 4096) return null_argument("size is above 4096", error);
    const auto result = field->invert_matrix({matrix, size * size}, size);
    if (result) copy_list<uint16_t>(*result, inverse, size * size);
    return finish(result, error);
  });
}
