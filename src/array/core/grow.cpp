// SPDX-License-Identifier: Apache-2.0
#include "array/core/grow.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20U;
constexpr std::size_t requests_most = 64;  // between two looks at the lease

// With all places that will have to be as large as the new size demands.
Result<Growth> plan(Members& members, const Settings& settings, const Shape& shape,
                    std::span<const unsigned> places, std::uint64_t bytes_asked) {
  std::uint64_t least = ~std::uint64_t{0};
  unsigned smallest = 0;
  for (const unsigned place : places) {
    if (members.bytes(place) >= least) continue;
    least = members.bytes(place);
    smallest = place;
  }
  auto planned = grown(settings, shape, least, bytes_asked);
  if (planned) return planned;
  return invalid(planned.error().message, " (", members.name(smallest), ")");
}

Status check_all_live(const SharedState& shared) {
  const Roster& roster = shared.roster;
  if (roster.not_in_count() != 0) {
    return invalid(roster.not_in_count(), " members are out or rebuilding; all must be live");
  }
  if (roster.successor().role != no_role) {
    return invalid("member ", roster.successor().role, " is being replaced; wait until that is ",
                   "complete");
  }
  return Done{};
}

Index larger_index(const Index& from, const MemberLayout& before, const MemberLayout& after) {
  Index to(after);
  for (std::uint64_t stripe = 0; stripe < before.stripes; ++stripe) {
    to.set_slot(stripe, from.slot_of(stripe));
    if (from.is_missed(stripe)) to.set_missed(stripe);
  }
  for (std::uint64_t page = 0; page < before.table_pages; ++page) {
    for (unsigned role = 0; role < before.roles(); ++role)
      to.set_digest(role, page, from.digest(role, page));
  }
  return to;
}

// Durable on return, on all members that are still live.
void write_index(Roster& roster, const MemberLayout& layout, std::span<std::byte> bytes) {
  std::vector<MemberRequest> requests;
  const auto run = [&] {
    roster.run(requests);
    requests.clear();
  };
  for (std::uint64_t at = 0; at < bytes.size(); at += piece_bytes) {
    for (unsigned role = 0; role < layout.roles(); ++role) {
      MemberRequest request;
      request.call = MemberCall::write;
      request.member = role;
      request.offset = layout.copy_at(0) + at;
      request.bytes = bytes.subspan(at, std::min<std::uint64_t>(piece_bytes, bytes.size() - at));
      requests.push_back(request);
    }
    if (requests.size() >= requests_most) run();
  }
  run();
  for (unsigned role = 0; role < layout.roles(); ++role)
    requests.push_back({.call = MemberCall::flush, .member = role});
  run();
}

}  // namespace

Result<Growth> plan_growth(Members& members, const Survey& found, std::uint64_t bytes_asked) {
  std::vector<unsigned> places;
  for (unsigned role = 0; role < found.by_role.size(); ++role) {
    const FoundPlace* const place = found.by_role[role];
    const bool is_in = place != nullptr && !is_stale(*place->superblock, found.newest) &&
                       found.newest.roles[role].state == MemberState::in;
    if (!is_in) return invalid("member ", role, " is out or rebuilding; all must be live");
    places.push_back(place->place);
  }
  if (found.newest.successor.role != no_role) {
    return invalid("member ", found.newest.successor.role,
                   " is being replaced; complete that first with calpe array rebuild");
  }
  for (const FoundPlace* const spare : found.spares)
    places.push_back(spare->place);
  return plan(members, found.newest.settings, found.newest.shape, places, bytes_asked);
}

Status grow(OpenArray& array, std::uint64_t bytes_asked, bool& must_reopen) {
  SharedState& shared = array.shared;
  Roster& roster = shared.roster;
  Log::Locked log(array.log);
  CALPE_CHECK(roster.check());
  CALPE_CHECK(check_all_live(shared));
  std::vector<unsigned> places;
  for (unsigned role = 0; role < shared.layout.roles(); ++role)
    places.push_back(roster.place(role));
  for (const SparePlace& spare : roster.spares())
    places.push_back(spare.place);
  CALPE_TRY(const Growth to,
            plan(roster.members(), shared.settings, shared.shape, places, bytes_asked));
  log.renew_lease_alone();
  CALPE_CHECK(log.commit());
  CALPE_CHECK(log.checkpoint());
  CALPE_CHECK(check_all_live(shared));
  const MemberLayout layout = layout_of(to.settings, to.shape);
  Index index = larger_index(shared.index, shared.layout, layout);
  write_index(roster, layout, index.bytes());
  if (roster.is_changed()) {
    CALPE_CHECK(log.settle_members());
    return make_error(ErrorCode::io, "a member failed; the array has not grown");
  }
  must_reopen = true;
  return log.write_grown(to, index.root());
}

}  // namespace calpe::array
