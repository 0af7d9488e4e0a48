// SPDX-License-Identifier: Apache-2.0
#include "array/members/overlay_members.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace calpe::array {

// Requests consist of whole blocks (members.hpp).
void OverlayMembers::write(const MemberRequest& request) {
  const std::unique_lock lock(mutex_);
  for (std::size_t at = 0; at < request.bytes.size(); at += block_bytes) {
    auto& block = blocks_[{request.member, request.offset + at}];
    if (!block) block = std::make_unique<Block>();
    std::copy_n(request.bytes.begin() + static_cast<std::ptrdiff_t>(at), block_bytes,
                block->begin());
  }
}

void OverlayMembers::patch(const MemberRequest& request) const {
  const std::shared_lock lock(mutex_);
  const std::uint64_t end = request.offset + request.bytes.size();
  for (auto found = blocks_.lower_bound({request.member, request.offset});
       found != blocks_.end() && found->first.first == request.member && found->first.second < end;
       ++found) {
    std::copy(
        found->second->begin(), found->second->end(),
        request.bytes.begin() + static_cast<std::ptrdiff_t>(found->first.second - request.offset));
  }
}

std::size_t OverlayMembers::blocks() const {
  const std::shared_lock lock(mutex_);
  return blocks_.size();
}

void OverlayMembers::run(std::span<MemberRequest> batch) {
  std::vector<MemberRequest> reads;
  std::vector<MemberRequest*> asked;
  for (MemberRequest& request : batch) {
    request.error.reset();
    if (request.call == MemberCall::write) write(request);
    if (request.call != MemberCall::read) continue;
    reads.push_back(request);
    asked.push_back(&request);
  }
  below_.run(reads);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    asked[i]->error = std::move(reads[i].error);
    if (!asked[i]->error) patch(*asked[i]);
  }
}

}  // namespace calpe::array
