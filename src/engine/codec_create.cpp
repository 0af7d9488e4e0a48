// SPDX-License-Identifier: Apache-2.0
// Creates a codec: proves the code, opens the device and compiles the encode kernel.
#include <algorithm>
#include <thread>

#include "base/allocation_guard.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "code/spec_rules.hpp"
#include "engine/codec_impl.hpp"
#include "engine/compile.hpp"
#include "engine/devices/device_choice.hpp"

namespace calpe {

namespace {

unsigned resolve_threads(unsigned asked) {
  if (asked == threads_all) asked = std::thread::hardware_concurrency();
  return std::max(1U, asked);
}

Status check_proof(const code::Code& code, const CodecOptions& options) {
  if (code.proof.proven()) return Done{};
  if (options.allow_unproven && code.spec.family == CodeFamily::custom) return Done{};
  return make_error(ErrorCode::unproven, code::profile_of(code.spec.family).name, " ",
                    code.data_shards(), "+", code.parity_shards(),
                    " is refused: ", code.proof.text);
}

}  // namespace

Result<std::shared_ptr<const Plan::Impl>> Codec::Impl::compile(plan::Recipe recipe) const {
  auto plan = std::make_shared<Plan::Impl>();
  plan->recipe = std::move(recipe);
  plan->spec = shared_spec;
  plan->device = device;
  plan->runs_on_caller = device->runs_on_caller();
  plan->has_few_shards =
      std::max(plan->recipe.reads.size(), plan->recipe.writes.size()) <= byte_shard_count_max;
  CALPE_TRY(plan->kernel, engine::compile(code, plan->recipe, *device, effort));
  if (engine::is_flat(spec())) {
    plan->overwriting = device->direct_call(*plan->kernel, false);
    plan->adding = device->direct_call(*plan->kernel, true);
  }
  return std::shared_ptr<const Plan::Impl>(std::move(plan));
}

Result<Codec> Codec::Impl::create(code::Code code, const CodecOptions& options) {
  CALPE_CHECK(check_proof(code, options));
  if (options.effort > Effort::thorough) {
    return invalid("effort is ", static_cast<unsigned>(options.effort),
                   "; expected fast (0), standard (1) or thorough (2)");
  }
  const bool is_bytes = code.spec.layout == Layout::bytes;
  CALPE_TRY(std::shared_ptr<backend::Device> device,
            engine::choose_device(options.backend, is_bytes ? ir::Dialect::gf : ir::Dialect::xor_));
  if (code.is_wide() && !device->codes_wide_symbols()) {
    return make_error(ErrorCode::backend_unavailable, "backend ", device->name(), " does not code ",
                      code.data_shards(), "+", code.parity_shards(),
                      " with word_bits 16; expected cpu or auto");
  }
  auto impl = std::make_shared<Impl>(std::move(code), std::move(device), options);
  CALPE_TRY(auto plan, impl->compile(plan::encode_recipe(impl->code)));
  impl->encode_plan = Plan(std::move(plan));
  CALPE_CHECK(impl->make_tagger());
  if (const unsigned threads = resolve_threads(options.threads); threads > 1) {
    impl->pool = std::make_shared<ThreadPool>(threads - 1);
  }
  return Codec(std::move(impl));
}

Result<Codec> Codec::create(const CodeSpec& spec, const CodecOptions& options) {
  return guarded([&]() -> Result<Codec> {
    CALPE_TRY(code::Code code, code::make_code(spec));
    return Impl::create(std::move(code), options);
  });
}

Result<Codec> Codec::create_from_matrix(const CodeSpec& spec,
                                        std::span<const std::uint16_t> parity_rows,
                                        const CodecOptions& options) {
  return guarded([&]() -> Result<Codec> {
    CALPE_TRY(code::Code code, code::make_custom_code(spec, parity_rows));
    return Impl::create(std::move(code), options);
  });
}

Codec::Codec(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
Codec::Codec(const Codec&) noexcept = default;
Codec::Codec(Codec&&) noexcept = default;
Codec& Codec::operator=(const Codec&) noexcept = default;
Codec& Codec::operator=(Codec&&) noexcept = default;
Codec::~Codec() = default;

// Moved-from codecs have no information.
const CodeSpec& Codec::spec() const noexcept {
  static constinit const CodeSpec none;
  return impl_ ? impl_->code.spec : none;
}
const CodeProof& Codec::proof() const noexcept {
  static const CodeProof none;
  return impl_ ? impl_->code.proof : none;
}
std::string_view Codec::backend() const noexcept {
  return impl_ ? impl_->device->name() : std::string_view();
}
unsigned Codec::threads() const noexcept {
  return impl_ && impl_->pool ? static_cast<unsigned>(impl_->pool->helpers()) + 1 : 1;
}
bool Codec::runs_on_caller() const noexcept {
  return !impl_ || impl_->device->runs_on_caller();
}

void set_log_handler(LogHandler handler, void* user) noexcept {
  logging::set_handler(handler, user);
}

std::string_view version() noexcept {
  return CALPE_VERSION;
}

}  // namespace calpe
