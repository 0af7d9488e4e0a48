// SPDX-License-Identifier: Apache-2.0
#include "store/repair/repair_target.hpp"

#include <array>

#include "base/little_endian.hpp"
#include "base/try.hpp"
#include "store/format/block_checksum.hpp"

namespace calpe::store {

RepairTarget::RepairTarget(FileSystem& files, const ShardHeader& header, ShardIndex index)
    : files_(files), header_(header), geometry_(geometry_of(header)) {
  header_.shard_index = index;
}

Result<std::unique_ptr<RepairTarget>> RepairTarget::change(FileSystem& files,
                                                           const ShardHeader& header,
                                                           const ShardCopy& copy) {
  std::unique_ptr<RepairTarget> target(new RepairTarget(files, header, copy.index));
  target->path_ = copy.found.path;
  target->is_front_good_ = copy.found.front_header_good;
  target->is_back_good_ =
      copy.found.back_header_good && copy.found.file_bytes == shard_file_bytes(header);
  CALPE_TRY(target->file_, files.open_to_change(copy.found.path));
  return target;
}

Result<std::unique_ptr<RepairTarget>> RepairTarget::make(FileSystem& files,
                                                         const ShardHeader& header,
                                                         ShardIndex index, const std::string& path,
                                                         const std::string& temporary) {
  std::unique_ptr<RepairTarget> target(new RepairTarget(files, header, index));
  target->path_ = path;
  CALPE_CHECK(files.remove(temporary));  // left by an interrupted repair
  CALPE_TRY(target->file_, files.create(temporary));
  target->temporary_ = temporary;
  return target;
}

RepairTarget::~RepairTarget() {
  if (!file_ || temporary_.empty()) return;
  file_.reset();
  static_cast<void>(files_.remove(temporary_));  // another error is reported already
}

Status RepairTarget::begin() {
  const std::uint64_t bytes = shard_file_bytes(header_);
  // Write the headers of a new file last; without them it is not a shard.
  if (is_made_anew()) return file_->resize(bytes);
  if (!is_front_good_) {
    // The other header is the only good one; do not touch it before this one is durable.
    CALPE_CHECK(file_->write_at(to_bytes(header_), 0));
    CALPE_CHECK(file_->sync());
  }
  CALPE_TRY(const std::uint64_t present, file_->size());
  if (present != bytes) CALPE_CHECK(file_->resize(bytes));
  return Done{};
}

Status RepairTarget::write(const StripeRun& run, std::span<const std::byte> blocks) {
  std::array<LittleU64, group_stripes> checksums;
  const std::size_t count = run.stripe_count;
  for (std::size_t j = 0; j < count; ++j) {
    const BlockName name = {.uuid = header_.uuid,
                            .generation = header_.generation,
                            .stripe = run.first_stripe + j,
                            .shard = header_.shard_index};
    checksums[j] =
        block_checksum(name, blocks.subspan(j * geometry_.block_bytes, geometry_.block_bytes));
  }
  CALPE_CHECK(file_->write_at(blocks, geometry_.block_offset(run.first_stripe)));
  return file_->write_at(std::as_bytes(std::span(checksums).first(count)),
                         geometry_.checksum_offset(run.first_stripe));
}

Status RepairTarget::write_rest(std::span<const std::byte> bytes, std::uint64_t offset) {
  return file_->write_at(bytes, offset);
}

Status RepairTarget::finish() {
  const HeaderBytes header = to_bytes(header_);
  const std::uint64_t used = geometry_.stripe_count % group_stripes * sizeof(std::uint64_t);
  if (used != 0 && !is_made_anew()) {
    const std::array<std::byte, page_bytes> zeros = {};
    const auto padding = std::span(zeros).subspan(used);
    CALPE_CHECK(file_->write_at(padding, geometry_.body_end() - padding.size()));
  }
  CALPE_CHECK(file_->sync());
  if (is_made_anew()) CALPE_CHECK(file_->write_at(header, 0));
  if (!is_back_good_)
    CALPE_CHECK(file_->write_at(header, shard_file_bytes(header_) - header.size()));
  if (is_made_anew() || !is_back_good_) CALPE_CHECK(file_->sync());
  if (is_made_anew()) {
    CALPE_CHECK(files_.rename(temporary_, path_));
    file_.reset();
    CALPE_CHECK(files_.sync_folder(folder_of(path_)));
  }
  return Done{};
}

}  // namespace calpe::store
