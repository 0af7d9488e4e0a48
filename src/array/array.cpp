// SPDX-License-Identifier: Apache-2.0
// The public calls of an array. None of them throws.
#include "array/array.hpp"

#include <algorithm>

#include "array/core/open_array.hpp"
#include "array/core/opening.hpp"
#include "array/core/status.hpp"
#include "array/format/layout.hpp"
#include "array/state/member_probe.hpp"
#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/extended_spec.hpp"

namespace calpe::array {

struct Array::Impl {
  std::unique_ptr<OpenArray> open;
};

Array::Array(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Array::~Array() = default;

namespace {

// Runs a call that a read-only array refuses.
template <class Call>
auto changing(const OpenArray& array, const Call& call) -> decltype(call()) {
  return guarded([&]() -> decltype(call()) {
    if (array.shared.options.is_read_only) return invalid("the array is open read-only");
    return call();
  });
}

}  // namespace

Result<std::unique_ptr<Array>> Array::open(Members& members, const OpenOptions& options) {
  return guarded([&]() -> Result<std::unique_ptr<Array>> {
    auto impl = std::make_unique<Impl>();
    CALPE_TRY(impl->open, open_array(members, options));
    impl->open->log.end_opening();
    return std::unique_ptr<Array>(new Array(std::move(impl)));
  });
}

std::uint64_t Array::bytes() const noexcept {
  return impl_->open->shared.settings.bytes;
}
const Settings& Array::settings() const noexcept {
  return impl_->open->shared.settings;
}

Status Array::read(std::uint64_t offset, std::span<std::byte> bytes) {
  return guarded([&] { return impl_->open->reader.read(offset, bytes); });
}

Status Array::write(std::uint64_t offset, std::span<const std::byte> bytes, Durability durability) {
  return changing(*impl_->open, [&]() -> Status {
    CALPE_CHECK(impl_->open->writer.write(offset, bytes));
    if (durability == Durability::durable) CALPE_CHECK(impl_->open->log.commit());
    return Done{};
  });
}

Status Array::zero(std::uint64_t offset, std::uint64_t length, Durability durability) {
  return changing(*impl_->open, [&]() -> Status {
    CALPE_CHECK(impl_->open->writer.zero(offset, length));
    if (durability == Durability::durable) CALPE_CHECK(impl_->open->log.commit());
    return Done{};
  });
}

Status Array::trim(std::uint64_t offset, std::uint64_t length, Durability durability) {
  return changing(*impl_->open, [&]() -> Status {
    CALPE_CHECK(impl_->open->writer.trim(offset, length));
    if (durability == Durability::durable) CALPE_CHECK(impl_->open->log.commit());
    return Done{};
  });
}

Status Array::flush() {
  return guarded([&] { return impl_->open->log.commit(); });
}

Result<std::vector<Extent>> Array::extents(std::uint64_t offset, std::uint64_t length) {
  return guarded([&] { return impl_->open->reader.extents(offset, length); });
}

ArrayStatus Array::status() const {
  return status_of(*impl_->open);
}

ArrayStatus Array::status_now(const ArrayStatus& last) const {
  return status_without_lock(*impl_->open, last);
}

std::optional<ArrayStatus> Array::try_status() const {
  return try_status_of(*impl_->open);
}

bool Array::can_do_without(std::uint64_t places) const noexcept {
  return impl_->open->shared.roster.can_do_without(places);
}

Status Array::renew_lease() {
  return guarded([&] { return impl_->open->log.renew_lease(); });
}

void Array::stop(const std::string& why) {
  impl_->open->shared.roster.stop(why);
}

Status Array::checkpoint() {
  return guarded([&] { return impl_->open->log.checkpoint(); });
}

bool Array::is_log_half_full() const noexcept {
  return impl_->open->log.is_half_full();
}

Status Array::close() {
  return guarded([&] { return impl_->open->log.close(); });
}

Status Array::fail(unsigned role) {
  return changing(*impl_->open, [&] { return impl_->open->admin.fail(role); });
}
Status Array::lose(unsigned role, const std::string& why) {
  return changing(*impl_->open, [&] { return impl_->open->admin.lose(role, why); });
}

Status Array::add(unsigned place) {
  return changing(*impl_->open, [&] { return impl_->open->admin.add(place); });
}

Status Array::remove_spare(unsigned place) {
  return changing(*impl_->open, [&] { return impl_->open->admin.remove_spare(place); });
}

Status Array::replace(unsigned role, unsigned place) {
  return changing(*impl_->open, [&] { return impl_->open->admin.replace(role, place); });
}

Result<bool> Array::take_spare() {
  return changing(*impl_->open, [&] { return impl_->open->admin.take_spare(); });
}

Status Array::readd(unsigned role) {
  return changing(*impl_->open, [&] { return impl_->open->admin.readd(role); });
}

Return Array::returning(const Superblock& found, unsigned role) const {
  return impl_->open->admin.returning(found, role);
}

Result<RebuildProgress> Array::rebuild_step(std::uint64_t bytes, Progress progress) {
  return changing(*impl_->open, [&]() -> Result<RebuildProgress> {
    CALPE_TRY(const RebuildProgress rebuilt, impl_->open->rebuild.step(bytes, progress));
    // Members that are rebuilding come first: they lack redundancy.
    if (!rebuilt.is_complete || impl_->open->shared.roster.successor().role == no_role) {
      return rebuilt;
    }
    return impl_->open->copy.step(bytes, progress);
  });
}

Result<ScrubProgress> Array::scrub_step(std::uint64_t position, std::uint64_t bytes) {
  return changing(*impl_->open, [&] { return impl_->open->scrub.step(position, bytes); });
}

namespace {

// The code with one more parity shard, if the existing parity stays the same.
Result<CodeSpec> grown_spec(const CodeSpec& before) {
  CALPE_TRY(const auto spec, store::extended_spec(before, before.parity_shards + 1U));
  if (spec) return *spec;
  return make_error(ErrorCode::invalid_argument,
                    "cannot add parity: this code would need other bytes in the ",
                    before.parity_shards, " parity members that exist");
}

}  // namespace

Status check_grow_parity(Members& members, std::uint64_t bytes) {
  return guarded([&]() -> Status {
    CALPE_TRY(const Survey found, survey(members));
    CALPE_TRY(const Inspection now, inspect(members));
    CALPE_TRY([[maybe_unused]] const CodeSpec spec, grown_spec(now.settings.spec));
    const std::size_t roles = found.newest.roles.size();
    const auto live = static_cast<std::size_t>(
        std::count_if(now.members.begin(), now.members.end(),
                      [](const MemberStatus& one) { return one.state == MemberState::in; }));
    if (live < roles) {
      return invalid(roles - live, " members are out or rebuilding; all must be live: run calpe ",
                     "array explain");
    }
    if (roles >= found.newest.shape.members_max)
      return invalid("the array has ", roles, " members and no room for more");
    const std::uint64_t least = layout_of(found.newest.settings, found.newest.shape).member_bytes;
    if (bytes < least)
      return invalid("the new member has ", bytes, " bytes; expected at least ", least);
    return Done{};
  });
}

Status grow_parity(Members& members, unsigned place, const OpenOptions& options) {
  return guarded([&]() -> Status {
    OpenOptions all = options;
    all.needs_all = true;
    CALPE_TRY(const std::unique_ptr<OpenArray> array, open_array(members, all));
    CALPE_TRY(const CodeSpec spec, grown_spec(array->shared.settings.spec));
    return array->admin.grow(place, spec);
  });
}

}  // namespace calpe::array
