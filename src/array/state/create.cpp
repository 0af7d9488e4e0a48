// SPDX-License-Identifier: Apache-2.0
// Formats members and spares.
#include <algorithm>

#include "array/format/index.hpp"
#include "array/format/member_format.hpp"
#include "array/state/buffers.hpp"
#include "array/state/codec_cache.hpp"
#include "base/allocation_guard.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20U;

Status run_one(Members& members, MemberRequest request) {
  members.run(std::span(&request, 1));
  if (!request.error) return Done{};
  return make_error(ErrorCode::io, request.error->message);
}

Status write_bytes(Members& members, unsigned place, std::uint64_t offset,
                   std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    MemberRequest request;
    request.call = MemberCall::write;
    request.member = place;
    request.offset = offset;
    request.bytes = bytes.first(std::min(bytes.size(), piece_bytes));
    CALPE_CHECK(run_one(members, request));
    offset += request.bytes.size();
    bytes = bytes.subspan(request.bytes.size());
  }
  return Done{};
}

Status flush(Members& members, unsigned place) {
  MemberRequest request;
  request.call = MemberCall::flush;
  request.member = place;
  return run_one(members, request);
}

Result<std::uint64_t> smallest_member(std::span<const std::uint64_t> bytes, unsigned roles) {
  if (bytes.size() < roles) {
    return make_error(ErrorCode::invalid_argument, bytes.size(),
                      " files or disks are given; expected at least ", roles);
  }
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned place = 0; place < roles; ++place) {
    if (bytes[place] == 0) {
      return make_error(ErrorCode::invalid_argument, "member ", place, " is missing or empty");
    }
    least = std::min(least, bytes[place]);
  }
  return least;
}

// The superblock of a new array, without the index of a member.
Result<Superblock> first_superblock(const Settings& asked, std::span<const std::uint64_t> bytes) {
  CALPE_CHECK(check_settings(asked));
  Settings settings = asked;
  CALPE_TRY(const Codec codec, codec_for(settings.spec));
  settings.spec = codec.spec();
  const unsigned roles = settings.spec.data_shards + unsigned{settings.spec.parity_shards};
  if (codec.proof().losses != settings.spec.parity_shards) {
    return make_error(ErrorCode::invalid_argument, "the code rebuilds any ", codec.proof().losses,
                      " lost members; expected any ", settings.spec.parity_shards);
  }
  Superblock superblock;
  superblock.shape = {.rotated = roles, .members_max = std::min(roles + 4, members_most)};
  CALPE_TRY(const std::uint64_t member_bytes, smallest_member(bytes, roles));
  CALPE_TRY(settings, settle(settings, superblock.shape, member_bytes));
  const MemberLayout layout = layout_of(settings, superblock.shape);
  for (std::size_t place = roles; place < bytes.size(); ++place) {
    if (bytes[place] == 0 || bytes[place] >= layout.member_bytes) continue;
    return make_error(ErrorCode::invalid_argument, "a spare has ", bytes[place],
                      " bytes; expected at least ", layout.member_bytes);
  }
  superblock.epoch = 1;
  superblock.generation = 1;
  superblock.is_clean = true;
  superblock.settings = settings;
  superblock.roles.resize(roles);
  return superblock;
}

Status do_create(Members& members, const Settings& asked, const Uuid& uuid) {
  std::vector<std::uint64_t> sizes;
  for (unsigned place = 0; place < members.count(); ++place) {
    sizes.push_back(members.bytes(place));
  }
  CALPE_TRY(Superblock superblock, first_superblock(asked, sizes));
  const MemberLayout layout = layout_of(superblock.settings, superblock.shape);
  const unsigned roles = layout.roles();
  Index index(layout);
  superblock.array = uuid;
  superblock.index_root = index.root();
  for (unsigned role = 0; role < roles; ++role) {
    superblock.roles[role].uuid = member_uuid(uuid, 1, role);
  }
  for (unsigned place = 0; place < members.count(); ++place) {
    if (members.bytes(place) == 0) continue;
    CALPE_CHECK(wipe_member(members, place, layout));
  }
  for (unsigned place = 0; place < members.count(); ++place) {
    if (members.bytes(place) == 0) continue;
    superblock.role = place < roles ? place : no_role;
    superblock.member = member_uuid(uuid, 1, place);
    if (place < roles) {
      CALPE_CHECK(write_bytes(members, place, layout.copy_at(0), index.bytes()));
      CALPE_CHECK(flush(members, place));
    }
    CALPE_CHECK(write_superblock(members, place, 0, superblock));
  }
  return Done{};
}

}  // namespace

Status wipe_superblocks(Members& members, unsigned place) {
  const AlignedBytes zeros(log_at);
  std::fill(zeros.span().begin(), zeros.span().end(), std::byte{0});
  CALPE_CHECK(write_bytes(members, place, 0, zeros.span()));
  return flush(members, place);
}

Status wipe_member(Members& members, unsigned place, const MemberLayout& layout) {
  // Superblocks first, so that an old member cannot reappear.
  CALPE_CHECK(wipe_superblocks(members, place));
  const AlignedBytes zeros(std::min<std::size_t>(piece_bytes, layout.log_bytes));
  std::fill(zeros.span().begin(), zeros.span().end(), std::byte{0});
  // Real zeros: with holes, the file system would have to update its metadata on later writes.
  for (std::uint64_t at = 0; at < layout.log_bytes; at += zeros.size()) {
    const std::uint64_t now = std::min<std::uint64_t>(zeros.size(), layout.log_bytes - at);
    CALPE_CHECK(write_bytes(members, place, log_at + at, zeros.span().first(now)));
  }
  return flush(members, place);
}

Status write_superblock(Members& members, unsigned place, unsigned copy,
                        const Superblock& superblock) {
  const AlignedBytes bytes(block_bytes);
  const SuperblockBytes image = to_bytes(superblock);
  std::copy(image.begin(), image.end(), bytes.data());
  MemberRequest request;
  request.call = MemberCall::write;
  request.member = place;
  request.offset = copy * block_bytes;
  request.bytes = bytes.span();
  request.is_durable = true;
  request.is_past_cache = true;
  return run_one(members, request);
}

Status check_create(const Settings& settings, std::span<const std::uint64_t> bytes) {
  return guarded([&]() -> Status {
    CALPE_TRY([[maybe_unused]] const Superblock superblock, first_superblock(settings, bytes));
    return Done{};
  });
}

Status create(Members& members, const Settings& settings, const Uuid& uuid) {
  return guarded([&] { return do_create(members, settings, uuid); });
}

}  // namespace calpe::array
