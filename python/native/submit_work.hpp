// SPDX-License-Identifier: Apache-2.0
// Batches of stripes in Python objects, run at once or in the background.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <vector>

#include <calpe/codec.hpp>

#include "native/buffers.hpp"

namespace calpe::python {

// Holds the buffers of a batch. `stripes`: any iterable of (inputs, outputs).
class HeldBatch {
 public:
  explicit HeldBatch(py::handle stripes);
  const std::vector<Stripe>& get() const noexcept { return stripes_; }

 private:
  // Elements must not move when the container grows, because stripes point to them.
  std::deque<InputShards> inputs_;
  std::deque<OutputShards> outputs_;
  std::vector<Stripe> stripes_;
};

// Work in the background. Holds the buffers until it is complete. Use it with the interpreter lock.
class BackgroundWork {
 public:
  BackgroundWork(const Codec& codec, const Plan& plan, py::handle stripes, RunOptions options);
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;
  ~BackgroundWork();  // waits
  void wait();

 private:
  Status wait_without_lock();
  std::optional<HeldBatch> batch_;
  std::mutex mutex_;          // several Python threads may wait
  pid_t process_ = getpid();  // a child of fork() may find the mutex locked, and has one thread
  std::optional<Pending> pending_;
};

std::unique_ptr<BackgroundWork> submit(const Codec& codec, const Plan& plan, py::handle stripes,
                                       bool accumulate, py::handle stores);

}  // namespace calpe::python
