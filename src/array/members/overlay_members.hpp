// SPDX-License-Identifier: Apache-2.0
// Members whose writes stay in memory, for the recovery of an array that is opened read-only.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <utility>

#include "array/format/members.hpp"
#include "array/format/types.hpp"

namespace calpe::array {

class OverlayMembers final : public Members {
 public:
  explicit OverlayMembers(Members& below) : below_(below) {}  // must outlive this object

  unsigned count() const override { return below_.count(); }
  std::uint64_t bytes(unsigned member) const override { return below_.bytes(member); }
  std::string name(unsigned member) const override { return below_.name(member); }
  void run(std::span<MemberRequest> batch) override;

  std::size_t blocks() const;  // number of written blocks

 private:
  using Block = std::array<std::byte, block_bytes>;
  void write(const MemberRequest& request);
  void patch(const MemberRequest& request) const;

  Members& below_;
  mutable std::shared_mutex mutex_;
  std::map<std::pair<unsigned, std::uint64_t>, std::unique_ptr<Block>> blocks_;
};

}  // namespace calpe::array
