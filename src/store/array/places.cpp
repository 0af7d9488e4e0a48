// SPDX-License-Identifier: Apache-2.0
#include "store/array/places.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "store/array/buffers.hpp"

namespace calpe::store::array {

FoundPlace look_at(Members& members, unsigned place) {
  FoundPlace found;
  found.place = place;
  if (members.bytes(place) < log_at) {
    found.why = members.bytes(place) == 0 ? "nothing is there" : "too small for a member";
    return found;
  }
  const AlignedBytes bytes(log_at);
  for (unsigned copy = 0; copy < 2; ++copy) {
    MemberRequest request;
    request.member = place;
    request.offset = copy * block_bytes;
    request.bytes = bytes.span().subspan(copy * block_bytes, block_bytes);
    members.run(std::span(&request, 1));
    if (request.error) {
      found.why = request.error->message;
      continue;
    }
    Result<Superblock> parsed = parse_superblock(request.bytes);
    if (!parsed) {
      found.why = parsed.error().message;
    } else if (!found.superblock || parsed->epoch > found.superblock->epoch) {
      found.superblock = *std::move(parsed);
      found.copy = copy;
    }
  }
  if (found.superblock) found.why.clear();
  return found;
}

bool is_stale(const Superblock& superblock, const Superblock& newest) noexcept {
  return superblock.epoch < newest.previous;
}

Result<Survey> survey(Members& members) {
  Survey all;
  for (unsigned place = 0; place < std::min(members.count(), 2 * members_most); ++place) {
    all.places.push_back(look_at(members, place));
  }
  const FoundPlace* newest = nullptr;
  const FoundPlace* first = nullptr;
  std::string reasons;
  for (const FoundPlace& found : all.places) {
    if (!found.superblock) {
      reasons += make_error(ErrorCode::corrupt, reasons.empty() ? "" : "; ", "place ", found.place,
                            ": ", found.why)
                     .message;
      continue;
    }
    if (first == nullptr) first = &found;
    if (found.superblock->array != first->superblock->array) {
      return make_error(ErrorCode::invalid_argument, "place ", first->place, " is of array ",
                        to_text(first->superblock->array), " and place ", found.place,
                        " is of array ", to_text(found.superblock->array),
                        ", expected members of one array");
    }
    for (const FoundPlace& other : all.places) {
      if (&other == &found) break;
      if (other.superblock && other.superblock->member == found.superblock->member) {
        return make_error(ErrorCode::invalid_argument, "places ", other.place, " and ", found.place,
                          " are copies of one member, expected it once");
      }
    }
    if (newest == nullptr || found.superblock->epoch > newest->superblock->epoch) newest = &found;
  }
  if (newest == nullptr) {
    return make_error(ErrorCode::corrupt,
                      "no place has a superblock: ", reasons.empty() ? "there are none" : reasons);
  }
  all.newest = *newest->superblock;
  all.by_role.resize(all.newest.roles.size());
  for (const FoundPlace& found : all.places) {
    bool is_role = false;
    for (std::size_t role = 0; found.superblock && role < all.by_role.size(); ++role) {
      if (found.superblock->member != all.newest.roles[role].uuid) continue;
      all.by_role[role] = &found;
      is_role = true;
    }
    if (is_role) continue;
    const bool is_spare = found.superblock && found.superblock->role == no_role;
    (is_spare ? all.spares : all.others).push_back(&found);
  }
  return all;
}

}  // namespace calpe::store::array
