// SPDX-License-Identifier: Apache-2.0
// The public calls of an array. None of them throws.
#include "array/array.hpp"

#include <algorithm>
#include <mutex>

#include "array/core/grow.hpp"
#include "array/core/open_array.hpp"
#include "array/core/opening.hpp"
#include "array/core/status.hpp"
#include "array/format/layout.hpp"
#include "array/state/member_probe.hpp"
#include "array/state/write_gate.hpp"
#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/extended_spec.hpp"

namespace calpe::array {

struct Array::Impl {
  Impl(Members& those, const OpenOptions& chosen) : members(those), options(chosen) {}

  Status open_now(bool has_lease);
  // For calls that pass no gate.
  std::shared_ptr<OpenArray> current() const {
    const std::lock_guard lock(mutex);
    return open;
  }
  // Calls with the open array, which stays until the call returns.
  template <class Call>
  auto pass(const Call& call) {
    const auto passed = gate.pass();
    return call(*open);
  }
  // The same; no exception leaves it.
  template <class Call>
  auto guard(const Call& call) {
    return guarded([&] { return pass(call); });
  }
  // The same, for a call that a read-only array refuses.
  template <class Call>
  auto change(const Call& call) {
    return guarded([&] {
      return pass([&](OpenArray& array) -> decltype(call(array)) {
        if (options.is_read_only) return invalid("the array is open read-only");
        return call(array);
      });
    });
  }

  Members& members;
  const OpenOptions options;
  WriteGate gate;            // every call passes it; closed while the array grows
  mutable std::mutex mutex;  // guards `open` for those that do not
  std::shared_ptr<OpenArray> open;
};

Status Array::Impl::open_now(bool has_lease) {
  OpenOptions now = options;
  now.has_lease = has_lease;
  CALPE_TRY(std::shared_ptr<OpenArray> opened, open_array(members, now));
  opened->log.end_opening();
  if (open != nullptr) opened->shared.lost.take_from(open->shared.lost);
  const std::lock_guard lock(mutex);
  open.swap(opened);
  return Done{};
}

Array::Array(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Array::~Array() = default;

Result<std::unique_ptr<Array>> Array::open(Members& members, const OpenOptions& options) {
  return guarded([&]() -> Result<std::unique_ptr<Array>> {
    auto impl = std::make_unique<Impl>(members, options);
    CALPE_CHECK(impl->open_now(false));
    return std::unique_ptr<Array>(new Array(std::move(impl)));
  });
}

std::uint64_t Array::bytes() const noexcept {
  return impl_->pass([](const OpenArray& array) { return array.shared.settings.bytes; });
}
Settings Array::settings() const noexcept {
  return impl_->pass([](const OpenArray& array) { return array.shared.settings; });
}

Status Array::read(std::uint64_t offset, std::span<std::byte> bytes) {
  return impl_->guard([&](OpenArray& array) { return array.reader.read(offset, bytes); });
}

Status Array::write(std::uint64_t offset, std::span<const std::byte> bytes, Durability durability) {
  return impl_->change([&](OpenArray& array) -> Status {
    CALPE_CHECK(array.writer.write(offset, bytes));
    if (durability == Durability::durable) CALPE_CHECK(array.log.commit());
    return Done{};
  });
}

Status Array::zero(std::uint64_t offset, std::uint64_t length, Durability durability) {
  return impl_->change([&](OpenArray& array) -> Status {
    CALPE_CHECK(array.writer.zero(offset, length));
    if (durability == Durability::durable) CALPE_CHECK(array.log.commit());
    return Done{};
  });
}

Status Array::trim(std::uint64_t offset, std::uint64_t length, Durability durability) {
  return impl_->change([&](OpenArray& array) -> Status {
    CALPE_CHECK(array.writer.trim(offset, length));
    if (durability == Durability::durable) CALPE_CHECK(array.log.commit());
    return Done{};
  });
}

Status Array::flush() {
  return impl_->guard([](OpenArray& array) { return array.log.commit(); });
}

Result<std::vector<Extent>> Array::extents(std::uint64_t offset, std::uint64_t length) {
  return impl_->guard([&](OpenArray& array) { return array.reader.extents(offset, length); });
}

ArrayStatus Array::status() const {
  return impl_->pass([](OpenArray& array) { return status_of(array); });
}

ArrayStatus Array::status_now(const ArrayStatus& last) const {
  const auto passed = impl_->gate.try_pass();
  return passed ? status_without_lock(*impl_->open, last) : last;
}

std::optional<ArrayStatus> Array::try_status() const {
  const auto passed = impl_->gate.try_pass();
  return passed ? try_status_of(*impl_->open) : std::nullopt;
}

bool Array::can_do_without(std::uint64_t places) const noexcept {
  return impl_->current()->shared.roster.can_do_without(places);
}

Status Array::renew_lease() {
  return impl_->guard([](OpenArray& array) { return array.log.renew_lease(); });
}

void Array::stop(const std::string& why) {
  impl_->current()->shared.roster.stop(why);
}

Status Array::checkpoint() {
  return impl_->guard([](OpenArray& array) { return array.log.checkpoint(); });
}

bool Array::is_log_half_full() const noexcept {
  return impl_->current()->log.is_half_full();
}

Status Array::close() {
  return impl_->guard([](OpenArray& array) { return array.log.close(); });
}

Status Array::fail(unsigned role) {
  return impl_->change([&](OpenArray& array) { return array.admin.fail(role); });
}
Status Array::lose(unsigned role, const std::string& why) {
  return impl_->change([&](OpenArray& array) { return array.admin.lose(role, why); });
}

Status Array::add(unsigned place) {
  return impl_->change([&](OpenArray& array) { return array.admin.add(place); });
}

Status Array::remove_spare(unsigned place) {
  return impl_->change([&](OpenArray& array) { return array.admin.remove_spare(place); });
}

Status Array::replace(unsigned role, unsigned place) {
  return impl_->change([&](OpenArray& array) { return array.admin.replace(role, place); });
}

Result<bool> Array::take_spare() {
  return impl_->change([&](OpenArray& array) { return array.admin.take_spare(); });
}

Status Array::readd(unsigned role) {
  return impl_->change([&](OpenArray& array) { return array.admin.readd(role); });
}

Return Array::returning(const Superblock& found, unsigned role) const {
  return impl_->pass([&](OpenArray& array) { return array.admin.returning(found, role); });
}

Result<RebuildProgress> Array::rebuild_step(std::uint64_t bytes, Progress progress) {
  return impl_->change([&](OpenArray& array) -> Result<RebuildProgress> {
    CALPE_TRY(const RebuildProgress rebuilt, array.rebuild.step(bytes, progress));
    // Members that are rebuilding come first: they lack redundancy.
    if (!rebuilt.is_complete || array.shared.roster.successor().role == no_role) return rebuilt;
    return array.copy.step(bytes, progress);
  });
}

Result<ScrubProgress> Array::scrub_step(std::uint64_t position, std::uint64_t bytes) {
  return impl_->change([&](OpenArray& array) { return array.scrub.step(position, bytes); });
}

Status Array::record_scrub(const ScrubHistory& scrub) {
  return impl_->change([&](OpenArray& array) -> Status {
    array.log.set_scrub(scrub);
    return Done{};
  });
}

// Other calls wait, as long as it takes to open the array.
Status Array::grow(std::uint64_t bytes) {
  return guarded([&]() -> Status {
    if (impl_->options.is_read_only) return invalid("the array is open read-only");
    const WriteGate::Closed closed(impl_->gate);
    OpenArray& before = *impl_->open;
    bool must_reopen = false;
    Status done = guarded([&] { return array::grow(before, bytes, must_reopen); });
    before.log.end_opening();
    if (!must_reopen) return done;
    // Until it is open again, also if that fails.
    before.shared.roster.stop(
        "the array has grown, and could not be opened again; restart its "
        "server");
    const Status opened = guarded([&] { return impl_->open_now(impl_->options.lease != nullptr); });
    return done ? opened : done;
  });
}

Result<std::uint64_t> check_grow(Members& members, std::uint64_t bytes) {
  return guarded([&]() -> Result<std::uint64_t> {
    CALPE_TRY(const Survey found, survey(members));
    CALPE_TRY(const Growth to, plan_growth(members, found, bytes));
    return to.settings.bytes;
  });
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
