// SPDX-License-Identifier: Apache-2.0
// A command queue of the caller. One that works out of order gets a barrier before each command and
// after the last. The table of shards is written by fill commands, which copy their pattern at
// once; a write command would have to wait for the queue, or need memory until it has run.
#pragma once
#include "backend/gpu/driver.hpp"
#include "backend/opencl/opencl_api.hpp"

namespace calpe::backend::opencl {

class OpenClCallerQueue final : public gpu::CallerQueue {
 public:
  struct Rules {
    bool has_addresses = false;
    bool is_out_of_order = false;
  };
  // Fails with invalid_argument if the handle is not a queue of this context and device.
  static Result<OpenClCallerQueue> open(const Api& api, std::uint64_t handle, cl_context context,
                                        cl_device_id device, bool has_addresses);

  Status launch(const gpu::Module& module, const gpu::Launch& launch) override;
  Status write(const gpu::Place& to, std::span<const std::uint64_t> numbers) override;
  // Later commands of the caller wait for all of these.
  Status finish() { return before_command(); }

 private:
  OpenClCallerQueue(const Api& api, cl_command_queue queue, const Rules& rules)
      : api_(api), queue_(queue), rules_(rules) {}
  Status before_command();

  const Api& api_;
  cl_command_queue queue_;
  Rules rules_;
};

}  // namespace calpe::backend::opencl
