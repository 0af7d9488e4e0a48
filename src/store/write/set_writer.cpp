// SPDX-License-Identifier: Apache-2.0
#include "store/write/set_writer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <system_error>

#include "base/progress.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "base/try.hpp"
#include "store/format/in_place_pages.hpp"

namespace calpe::store {

namespace {

// Memory for blocks of all threads together. A single stripe may be as large.
constexpr std::size_t memory_bytes = std::size_t{1} << 26U;
// Close to the size of a core's cache, with runs long enough to be worth a call: 256 KiB with 10+4.
constexpr std::size_t batch_bytes_wanted = std::size_t{1} << 22U;

// Returns a power of two, so that no batch crosses a group boundary.
std::size_t stripes_per_batch(std::size_t stripe_bytes, unsigned jobs) {
  const std::size_t share = std::min(memory_bytes / jobs, batch_bytes_wanted) / stripe_bytes;
  return std::bit_floor(std::clamp<std::size_t>(share, 1, group_stripes));
}

}  // namespace

SetWriter::SetWriter(ContentSource& content, const Codec& codec, const ShardFiles& shards,
                     const BlockName& name, std::uint32_t block_bytes, const SetForm& form)
    : content_(content),
      codec_(codec),
      shards_(shards),
      name_(name),
      shape_{.data_shards = codec.spec().data_shards,
             .parity_shards = codec.spec().parity_shards,
             .block_bytes = block_bytes,
             .stripes = 1,
             .with_leaves = form.with_roots},
      first_shard_(form.kind == SetKind::originals ? codec.spec().data_shards : 0),
      // Until the end is known every group is full; offsets depend on nothing else.
      geometry_{
          .block_bytes = block_bytes,
          .stripe_count = capacity_max / block_bytes,
          .page_count = form.kind == SetKind::originals ? original_page_count(codec.spec()) : 1},
      group_digests_(shape_.shard_count()) {}

Result<std::uint64_t> SetWriter::write(unsigned jobs, const OnProgress& on_progress) {
  const std::size_t stripe_bytes = shape_.shard_count() * shape_.block_bytes;
  jobs = std::clamp(jobs, 1U, 64U);
  shape_.stripes = stripes_per_batch(stripe_bytes, jobs);
  const std::size_t most = std::max<std::size_t>(1, memory_bytes / (shape_.stripes * stripe_bytes));
  run_side_by_side(std::min<std::size_t>(jobs, most),
                   [&](std::size_t part) { work(part == 0 ? &on_progress : nullptr); });
  if (error_) return *std::move(error_);
  // The last group, unless it is full.
  geometry_.stripe_count = next_stripe_;
  for (const auto& [index, group] : groups_) {
    CALPE_CHECK(end_group(index, group));
  }
  return content_bytes_;
}

void SetWriter::work(const OnProgress* on_progress) {
  try {
    if (Status status = work_on_all(on_progress); !status) fail(std::move(status).error());
  } catch (const std::bad_alloc&) {
    fail({ErrorCode::out_of_memory, "out of memory for stripes"});
  }
}

void SetWriter::fail(Error error) {
  const std::scoped_lock lock(error_mutex_);
  if (!error_) error_ = std::move(error);
  is_stopped_ = true;
}

Status SetWriter::work_on_all(const OnProgress* on_progress) {
  StripeBatch batch(shape_);
  const std::uint64_t all = content_.bytes_expected().value_or(0);
  while (!is_stopped_) {
    std::uint64_t first_stripe = 0;
    CALPE_TRY(const bool is_taken, take(batch, first_stripe));
    if (!is_taken) break;
    BlockName name = name_;
    name.stripe = first_stripe;
    CALPE_CHECK(batch.code(codec_, name));
    CALPE_CHECK(write_batch(batch, first_stripe));
    if (on_progress != nullptr && *on_progress) (*on_progress)(bytes_done_, all);
  }
  return Done{};
}

Result<bool> SetWriter::take(StripeBatch& batch, std::uint64_t& first_stripe) {
  const std::scoped_lock lock(content_mutex_);
  if (is_at_end_) return false;
  CALPE_CHECK(batch.fill(content_));
  is_at_end_ = batch.content_bytes() < shape_.stripes * shape_.stripe_data_bytes();
  first_stripe = next_stripe_;
  next_stripe_ += batch.stripe_count();
  content_bytes_ += batch.content_bytes();
  return batch.content_bytes() > 0;
}

Status SetWriter::write_batch(const StripeBatch& batch, std::uint64_t first_stripe) {
  const std::uint64_t offset = geometry_.block_offset(first_stripe);
  std::vector<Write> writes;
  for (std::size_t shard = first_shard_; shard < shape_.shard_count(); ++shard) {
    writes.push_back({&shards_.file(shard - first_shard_), batch.blocks(shard), offset});
  }
  CALPE_CHECK(shards_.write_all(writes));
  bytes_done_ += batch.content_bytes();
  if (const auto full = add_checksums(batch, first_stripe)) {
    CALPE_CHECK(end_group(first_stripe / group_stripes, *full));
    return tell_of_group(first_stripe / group_stripes);
  }
  return Done{};
}

void SetWriter::begin_at(std::uint64_t group) {
  groups_written_ = group;
  next_stripe_ = group * group_stripes;
  content_bytes_ = next_stripe_ * shape_.stripe_data_bytes();
  bytes_done_ = content_bytes_;
}

Status SetWriter::tell_of_group(std::uint64_t group) {
  if (!on_groups_) return Done{};
  {
    const std::scoped_lock lock(groups_mutex_);
    written_.insert(group);
    while (written_.erase(groups_written_) != 0) {
      ++groups_written_;
    }
  }
  // Skip if another thread is reporting; the next call will report this group as well.
  const std::unique_lock telling(tell_mutex_, std::try_to_lock);
  if (!telling.owns_lock()) return Done{};
  std::uint64_t groups = 0;
  {
    const std::scoped_lock lock(groups_mutex_);
    groups = groups_written_;
  }
  return on_groups_(groups);
}

std::optional<SetWriter::Group> SetWriter::add_checksums(const StripeBatch& batch,
                                                         std::uint64_t first_stripe) {
  const std::scoped_lock lock(groups_mutex_);
  const std::uint64_t index = first_stripe / group_stripes;
  Group& group = groups_[index];
  if (group.pages.empty()) group.pages.resize(shape_.shard_count() * group_stripes);
  if (shape_.with_leaves) group.leaves.resize(group.pages.size());
  for (std::size_t shard = 0; shard < shape_.shard_count(); ++shard) {
    const auto at =
        static_cast<std::ptrdiff_t>(shard * group_stripes + first_stripe % group_stripes);
    std::ranges::copy(batch.checksums(shard), group.pages.begin() + at);
    if (shape_.with_leaves) std::ranges::copy(batch.leaves(shard), group.leaves.begin() + at);
  }
  group.stripes += batch.stripe_count();
  if (group.stripes < group_stripes) return std::nullopt;
  std::optional<Group> full = std::move(group);
  groups_.erase(index);
  return full;
}

Status SetWriter::end_group(std::uint64_t index, const Group& group) {
  const std::uint64_t offset = geometry_.checksum_offset(index * group_stripes);
  BlockName name = name_;
  name.stripe = index * group_stripes;
  for (std::size_t shard = first_shard_; shard < shape_.shard_count(); ++shard) {
    if (geometry_.page_count > 1) {
      const auto own = original_pages(name, shape_.data_shards, shard, group.pages);
      CALPE_CHECK(
          shards_.file(shard - first_shard_).write_at(std::as_bytes(std::span(own)), offset));
      continue;
    }
    const auto page = std::span(group.pages).subspan(shard * group_stripes, group_stripes);
    CALPE_CHECK(shards_.file(shard).write_at(std::as_bytes(page), offset));
  }
  return shape_.with_leaves ? hash_group(index, group) : Done{};
}

// Groups may complete out of order.
Status SetWriter::hash_group(std::uint64_t index, const Group& group) {
  Sha256 hash;
  for (std::size_t shard = 0; shard < shape_.shard_count(); ++shard) {
    const auto leaves = std::span(group.leaves).subspan(shard * group_stripes, group.stripes);
    CALPE_TRY(const Digest digest, group_digest(hash, leaves));
    const std::scoped_lock lock(groups_mutex_);
    if (group_digests_[shard].size() <= index) group_digests_[shard].resize(index + 1);
    group_digests_[shard][index] = digest;
  }
  return Done{};
}

}  // namespace calpe::store
