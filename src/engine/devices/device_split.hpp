// SPDX-License-Identifier: Apache-2.0
// Runs parts of one job on several devices at the same time.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "engine/devices/batch_bytes.hpp"

namespace calpe::engine {

struct DevicePart {
  backend::Device* device = nullptr;
  const backend::Kernel* kernel = nullptr;
  backend::Batch batch;
};

// Returns one batch per share, in order. Cuts by stripes if there are many, else by groups, else by
// columns. An empty share has no stripes.
std::vector<backend::Batch> cut_by_shares(const backend::Batch& whole, const KernelShape& shape,
                                          std::span<const double> shares);

class PartsUnderWay final : public backend::Completion::Pending {
 public:
  // `lists`: lists of pointers that the parts use, unless the caller owns them.
  PartsUnderWay(std::vector<DevicePart> parts, std::vector<std::vector<std::byte*>> lists)
      : parts_(std::move(parts)), lists_(std::move(lists)) {}
  PartsUnderWay(const PartsUnderWay&) = delete;
  PartsUnderWay& operator=(const PartsUnderWay&) = delete;
  ~PartsUnderWay() override = default;  // completions wait

  // Returns when the parts that run on the caller's thread are done.
  void start();
  // Returns the first failure of any part.
  Status wait() override;

 private:
  std::vector<DevicePart> parts_;
  std::vector<std::vector<std::byte*>> lists_;
  Status result_ = Done{};
  std::vector<backend::Completion> under_way_;  // destroyed before the members it borrows
};

}  // namespace calpe::engine
