// SPDX-License-Identifier: Apache-2.0
// The one seam of an array's I/O: what it stands on. Files and block devices are behind it, or
// simulated disks; the array itself has no threads, clocks or files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <calpe/result.hpp>

namespace calpe::array {

enum class MemberCall : std::uint8_t { read, write, flush };

struct MemberRequest {
  MemberCall call = MemberCall::read;
  unsigned member = 0;           // a place: 0 .. count() - 1
  std::uint64_t offset = 0;      // in the member; a multiple of 4096, as are lengths
  std::span<std::byte> bytes{};  // read: receives; write: is only read
  bool is_durable = false;  // write: these bytes, and only these, survive power loss when run()
                            // returns, as with RWF_DSYNC
  // A hint for O_DIRECT; the address is a multiple of 4096, too. Read: from the disk, as another
  // host may have written it.
  bool is_past_cache = false;
  std::optional<Error> error{};  // out: nothing when it was done
};

class Members {
 public:
  virtual ~Members() = default;
  // Places; the order does not matter. May grow while an array is open, never shrink.
  virtual unsigned count() const = 0;
  virtual std::uint64_t bytes(unsigned member) const = 0;  // 0: nothing is there
  // For messages: the path of a file or block device.
  virtual std::string name(unsigned member) const { return "place " + std::to_string(member); }
  // All are done when it returns, in any order. Several threads may call it. After a power loss, of
  // a write that neither was durable nor flushed any 512-byte sectors may be there. A flush covers
  // the writes to that member whose run() had returned before the flush's run() was called.
  virtual void run(std::span<MemberRequest> batch) = 0;
};

}  // namespace calpe::array
