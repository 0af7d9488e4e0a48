// SPDX-License-Identifier: Apache-2.0
// The parts of an open array, in order of dependency. Contains no logic: Array calls the part that
// implements a call.
#pragma once
#include <cstdint>
#include <utility>

#include "array/core/log.hpp"
#include "array/core/member_admin.hpp"
#include "array/core/member_copy.hpp"
#include "array/core/reader.hpp"
#include "array/core/rebuild.hpp"
#include "array/core/scrub.hpp"
#include "array/core/shared_state.hpp"
#include "array/core/stripe_loader.hpp"
#include "array/core/writer.hpp"

namespace calpe::array {

struct OpenArray {
  OpenArray(Members& members, const Superblock& newest, Codec codec, const OpenOptions& options)
      : shared(members, newest, std::move(codec), options),
        log(shared, newest),
        loader(shared, log),
        reader(shared, loader),
        writer(shared, log, loader),
        rebuild(shared, log, loader),
        copy(shared, log, loader, rebuild),
        scrub(shared, log, loader),
        admin(shared, log, rebuild, writer.gate()) {}

  SharedState shared;
  Log log;
  StripeLoader loader;
  Reader reader;
  Writer writer;
  Rebuild rebuild;
  MemberCopy copy;
  Scrub scrub;
  MemberAdmin admin;
  // Found at opening; not changed afterwards.
  std::uint64_t diverged_roles = 0;  // split brain: members that were opened without the others
  std::uint64_t batches_replayed = 0;
};

}  // namespace calpe::array
