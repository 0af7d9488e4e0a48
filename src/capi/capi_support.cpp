// SPDX-License-Identifier: Apache-2.0
#include "capi/capi_support.hpp"

#include <limits>

#include "base/text.hpp"

namespace calpe::capi {

namespace {

template <class Field>
Result<Field> narrow(std::uint32_t value, const char* name) {
  if (value > std::numeric_limits<Field>::max()) {
    return Error{ErrorCode::invalid_argument,
                 std::string(name) + " is " + std::to_string(value) + "; expected at most " +
                     std::to_string(std::numeric_limits<Field>::max())};
  }
  return static_cast<Field>(value);
}

}  // namespace

void copy_text(std::string_view from, std::span<char> to) noexcept {
  const std::size_t length = std::min(from.size(), to.size() - 1);
  std::memcpy(to.data(), from.data(), length);
  to[length] = '\0';
}

calpe_status fail(ErrorCode code, const char* message, calpe_error* out) noexcept {
  if (out != nullptr) {
    out->status = static_cast<calpe_status>(code);
    copy_text(message, out->message);
  }
  return static_cast<calpe_status>(code);
}

calpe_status fail(const Error& error, calpe_error* out) noexcept {
  return fail(error.code, error.message.c_str(), out);
}

calpe_status null_among(std::initializer_list<NamedPointer> arguments, calpe_error* out) noexcept {
  const auto* const found =
      std::find_if(arguments.begin(), arguments.end(),
                   [](const NamedPointer& a) { return a.pointer == nullptr; });
  char message[64] = "";
  copy_text(found->name, message);
  const std::size_t length = std::strlen(message);
  copy_text(" is NULL", std::span(message).subspan(length));
  return null_argument(message, out);
}

calpe_status succeed(calpe_error* out) noexcept {
  if (out != nullptr) {
    out->status = CALPE_OK;
    out->message[0] = '\0';
  }
  return CALPE_OK;
}

Status check_struct(const void* given, std::size_t struct_size, std::size_t known,
                    const char* name) {
  // No structure will ever be this long. An uninitialised struct_size may be, and must not be used.
  constexpr std::size_t struct_size_max = 4096;
  const auto* const bytes = static_cast<const unsigned char*>(given);
  const auto is_set = [](unsigned char byte) { return byte != 0; };
  if (struct_size != 0 && struct_size <= struct_size_max &&
      (struct_size <= known || std::none_of(bytes + known, bytes + struct_size, is_set))) {
    return Done{};
  }
  return Error{ErrorCode::invalid_argument,
               std::string(name) + "->struct_size is " + std::to_string(struct_size) +
                   "; expected sizeof(calpe_" + name + "), " + std::to_string(known) +
                   " here, or more if the extra bytes are zero"};
}

Result<CodeSpec> to_spec(const calpe_spec* given) {
  if (given == nullptr) return Error{ErrorCode::invalid_argument, "spec is NULL"};
  const auto full = read_struct(given, "spec");
  if (!full) return full.error();
  const auto family = narrow<std::uint8_t>(full->family, "family");
  const auto layout = narrow<std::uint8_t>(full->layout, "layout");
  const auto bits = narrow<std::uint8_t>(full->word_bits, "word_bits");
  for (const auto* field : {&family, &layout, &bits}) {
    if (!*field) return field->error();
  }
  CodeSpec spec;
  if (*family != 0) spec.family = static_cast<CodeFamily>(*family);
  if (*layout != 0) spec.layout = static_cast<Layout>(*layout);
  spec.data_shards = full->data_shards;
  spec.parity_shards = full->parity_shards;
  if (*bits != 0) spec.word_bits = *bits;
  spec.polynomial = full->polynomial;
  spec.packet_bytes = full->packet_bytes;
  spec.local_groups = full->local_groups;
  spec.matrix_hash = full->matrix_hash;
  return spec;
}

calpe_spec from_spec(const CodeSpec& from) noexcept {
  calpe_spec full = CALPE_SPEC_INIT;
  full.family = static_cast<uint32_t>(from.family);
  full.layout = static_cast<uint32_t>(from.layout);
  full.data_shards = from.data_shards;
  full.parity_shards = from.parity_shards;
  full.word_bits = from.word_bits;
  full.polynomial = from.polynomial;
  full.packet_bytes = from.packet_bytes;
  full.local_groups = from.local_groups;
  full.matrix_hash = from.matrix_hash;
  return full;
}

Result<CodecOptions> to_options(const calpe_options* given) {
  CodecOptions options;
  if (given == nullptr) return options;
  const auto full = read_struct(given, "options");
  if (!full) return full.error();
  if (full->backend != nullptr) options.backend = full->backend;
  options.threads = full->threads == CALPE_THREADS_ALL ? threads_all : full->threads;
  if (full->plan_cache_entries != 0) {
    options.plan_cache_entries =
        full->plan_cache_entries == UINT32_MAX ? 0 : full->plan_cache_entries;
  }
  options.allow_unproven = full->allow_unproven != 0;
  if (full->effort > CALPE_EFFORT_THOROUGH) {  // may not fit into Effort
    return invalid("effort is ", full->effort,
                   "; expected CALPE_EFFORT_FAST (0), CALPE_EFFORT_STANDARD (1) or "
                   "CALPE_EFFORT_THOROUGH (2)");
  }
  options.effort = Effort(full->effort);
  return options;
}

void fill_proof(const CodeProof& from, calpe_proof* to) noexcept {
  calpe_proof full{};
  full.kind = static_cast<std::uint32_t>(from.kind);
  full.losses = from.losses;
  full.minors = from.minors;
  full.dead_count = static_cast<std::uint32_t>(from.dead_pattern.size());
  copy_list<ShardIndex>(from.dead_pattern, full.dead, CALPE_PROOF_DEAD_MAX);
  copy_text(from.text, full.text);
  write_struct(full, to);
}

}  // namespace calpe::capi
