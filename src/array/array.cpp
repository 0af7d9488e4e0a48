// SPDX-License-Identifier: Apache-2.0
// The array's calls: what they have in common is that nothing is thrown out of them.
#include "array/array.hpp"

#include "array/core/array_core.hpp"
#include "array/core/opening.hpp"
#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/extended_spec.hpp"

namespace calpe::array {

struct Array::Impl {
  std::unique_ptr<Core> core;
};

Array::Array(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Array::~Array() = default;

namespace {

// A call that an array which was opened read-only refuses.
template <class Call>
auto changing(const Core& core, const Call& call) -> decltype(call()) {
  return guarded([&]() -> decltype(call()) {
    if (core.is_read_only()) return invalid("the array is open read-only");
    return call();
  });
}

}  // namespace

Result<std::unique_ptr<Array>> Array::open(Members& members, const OpenOptions& options) {
  return guarded([&]() -> Result<std::unique_ptr<Array>> {
    auto impl = std::make_unique<Impl>();
    CALPE_TRY(impl->core, open_core(members, options));
    impl->core->end_opening();
    return std::unique_ptr<Array>(new Array(std::move(impl)));
  });
}

std::uint64_t Array::bytes() const noexcept {
  return impl_->core->settings().bytes;
}
const Settings& Array::settings() const noexcept {
  return impl_->core->settings();
}

Status Array::read(std::uint64_t offset, std::span<std::byte> bytes) {
  return guarded([&] { return impl_->core->read(offset, bytes); });
}

Status Array::write(std::uint64_t offset, std::span<const std::byte> bytes, Durability durability) {
  return changing(*impl_->core, [&]() -> Status {
    CALPE_CHECK(impl_->core->write(offset, bytes));
    if (durability == Durability::durable) CALPE_CHECK(impl_->core->commit());
    return Done{};
  });
}

Status Array::zero(std::uint64_t offset, std::uint64_t length, Durability durability) {
  return changing(*impl_->core, [&]() -> Status {
    CALPE_CHECK(impl_->core->zero(offset, length));
    if (durability == Durability::durable) CALPE_CHECK(impl_->core->commit());
    return Done{};
  });
}

Status Array::trim(std::uint64_t offset, std::uint64_t length, Durability durability) {
  return changing(*impl_->core, [&]() -> Status {
    CALPE_CHECK(impl_->core->trim(offset, length));
    if (durability == Durability::durable) CALPE_CHECK(impl_->core->commit());
    return Done{};
  });
}

Status Array::flush() {
  return guarded([&] { return impl_->core->commit(); });
}

Result<std::vector<Extent>> Array::extents(std::uint64_t offset, std::uint64_t length) {
  return guarded([&] { return impl_->core->extents(offset, length); });
}

ArrayStatus Array::status() const {
  return impl_->core->status();
}

Status Array::renew_lease() {
  return guarded([&] { return impl_->core->renew_lease(); });
}

void Array::stop(const std::string& why) {
  impl_->core->roster().stop(why);
}

Status Array::checkpoint() {
  return guarded([&] { return impl_->core->checkpoint(); });
}

Status Array::close() {
  return guarded([&] { return impl_->core->checkpoint(true); });
}

Status Array::fail(unsigned role) {
  return changing(*impl_->core, [&] { return impl_->core->fail(role); });
}

Status Array::add(unsigned place) {
  return changing(*impl_->core, [&] { return impl_->core->add(place); });
}

Status Array::replace(unsigned role, unsigned place) {
  return changing(*impl_->core, [&] { return impl_->core->replace(role, place); });
}

Result<bool> Array::take_spare() {
  return changing(*impl_->core, [&] { return impl_->core->take_spare(); });
}

Status Array::readd(unsigned role) {
  return changing(*impl_->core, [&] { return impl_->core->readd(role); });
}

Return Array::returning(const Superblock& found, unsigned role) const {
  return impl_->core->returning(found, role);
}

Result<RebuildProgress> Array::rebuild_step(std::uint64_t bytes) {
  return changing(*impl_->core, [&] { return impl_->core->rebuild_step(bytes); });
}

Result<ScrubProgress> Array::scrub_step(std::uint64_t position, std::uint64_t bytes) {
  return changing(*impl_->core, [&] { return impl_->core->scrub_step(position, bytes); });
}

Status grow_parity(Members& members, unsigned place, const OpenOptions& options) {
  return guarded([&]() -> Status {
    OpenOptions all = options;
    all.needs_all = true;
    CALPE_TRY(const std::unique_ptr<Core> core, open_core(members, all));
    const CodeSpec& before = core->settings().spec;
    CALPE_TRY(const auto spec, store::extended_spec(before, before.parity_shards + 1U));
    if (!spec) {
      return make_error(ErrorCode::invalid_argument,
                        "parity of the array's code would be another with ",
                        before.parity_shards + 1U, " rows, expected a prefix-stable profile");
    }
    return core->grow(place, *spec);
  });
}

}  // namespace calpe::array
