// SPDX-License-Identifier: Apache-2.0
// Lets one command at a time change a set. Places have no locks, so each command writes a mark with
// a random number to every place and then lists: of two commands, at least one sees the other.
// docs/adr/0027 has the proof.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "remote/set/remote_set.hpp"

namespace calpe::remote {

struct ChangeOptions {
  std::string verb = {};                       // for the messages of other commands
  std::vector<std::uint64_t> taken_over = {};  // marks of commands that were killed
};

class ChangeLock {
 public:
  // Requires all places. Removes marks that the options name, and those of processes of this
  // computer that have ended. Fails with io if there is another one, with its number and the
  // option; and with invalid_argument if two places are the same. Lists the places again.
  static Result<ChangeLock> acquire(Places& places, const Uuid& uuid, const ChangeOptions& options);
  ~ChangeLock();  // releases
  ChangeLock(ChangeLock&& other) noexcept;
  ChangeLock& operator=(ChangeLock&&) = delete;
  ChangeLock(const ChangeLock&) = delete;
  ChangeLock& operator=(const ChangeLock&) = delete;

  // Fails with io if a place lacked the mark when it was listed last: another command named the
  // mark with --take-over.
  Status check_listed() const;
  // The set, listed again. Fails as check_listed() does, or if a place is down.
  Result<RemoteSet> list_set() const;
  // Removes the mark. What cannot be removed is ignored: this process ends soon.
  void release() noexcept;

 private:
  ChangeLock(Places& places, const Uuid& uuid, std::uint64_t mark)
      : places_(&places), uuid_(uuid), mark_(mark) {}

  Places* places_;  // nullptr: released
  Uuid uuid_;
  std::uint64_t mark_;
};

// "calpe remote update on nas (process 4711, begun 2026-11-19 04:00:00 UTC)"
std::string describe_mark(Places& places, const Uuid& uuid, const MarkCopies& copies);

}  // namespace calpe::remote
