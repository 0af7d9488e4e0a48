// SPDX-License-Identifier: Apache-2.0
// The I/O interface of an array, implemented by files, block devices and simulated disks. The array
// itself uses no threads, clocks or files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <calpe/result.hpp>

namespace calpe::array {

enum class MemberCall : std::uint8_t { read, write, flush };

struct MemberRequest {
  MemberCall call = MemberCall::read;
  unsigned member = 0;           // a place: 0 .. count() - 1
  std::uint64_t offset = 0;      // in the member; offsets and lengths are multiples of 4096
  std::span<std::byte> bytes{};  // destination of a read, source of a write
  bool is_durable = false;  // write: these bytes, and only these, survive power loss when run()
                            // returns, as with RWF_DSYNC
  // A hint for O_DIRECT; the address is also a multiple of 4096. Reads come from the disk, as
  // another host may have written to it.
  bool is_past_cache = false;
  std::optional<Error> error{};  // out: nullopt on success
};

class Members {
 public:
  virtual ~Members() = default;
  // Number of places, in any order. May grow while an array is open, never shrink.
  virtual unsigned count() const = 0;
  virtual std::uint64_t bytes(unsigned member) const = 0;  // 0 = empty place
  // For messages: the path of a file or block device.
  virtual std::string name(unsigned member) const { return "place " + std::to_string(member); }
  // Runs all requests, in any order, and returns when they are done. Thread-safe. After a power
  // loss any 512-byte sectors of a write that was neither durable nor flushed may be there. A flush
  // covers the writes to its member whose run() returned before the run() of the flush was called.
  virtual void run(std::span<MemberRequest> batch) = 0;
  // The same; calls `work` once, while the requests run if that is possible. `work` neither sends
  // requests nor uses their bytes.
  virtual void run_with(std::span<MemberRequest> batch, const std::function<void()>& work) {
    run(batch);
    work();
  }
};

}  // namespace calpe::array
