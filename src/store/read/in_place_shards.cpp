// SPDX-License-Identifier: Apache-2.0
#include "store/read/in_place_shards.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <sys/stat.h>

#include "base/divide_up.hpp"
#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/find/journal_overlay.hpp"
#include "store/format/in_place_pages.hpp"
#include "store/tree/file_digest.hpp"

namespace calpe::store {

namespace {

constexpr std::size_t computed_pages_max = 4096;  // of 4 KiB

// Reads everything or returns false, also on errors.
bool read_fully(File& file, std::span<std::byte> bytes, std::uint64_t offset) {
  const Result<std::size_t> got = file.read_at(bytes, offset);
  return got && *got == bytes.size();
}

BlockName group_name(const ShardHeader& header, std::uint64_t group) {
  return {.uuid = header.uuid,
          .generation = header.generation,
          .stripe = group * group_stripes,
          .shard = 0};
}

}  // namespace

Result<std::shared_ptr<OriginalShards>> OriginalShards::open(FileSystem& files, const FoundSet& set,
                                                             MovedBytes moved) {
  std::shared_ptr<OriginalShards> opened(new OriginalShards(set.header, set.original));
  for (const auto& copies : set.shards) {
    for (const FoundShard& found : copies) {
      CALPE_TRY(std::unique_ptr<File> file, open_shard(files, found));
      opened->parity_.push_back({found, std::move(file)});
    }
  }
  CALPE_CHECK(opened->read_manifest());
  CALPE_TRY(OriginalPlace place, OriginalPlace::open(opened->manifest_, opened->original_));
  opened->content_ = std::make_unique<OriginalContent>(opened->manifest_, std::move(place));
  if (moved == MovedBytes::found) {
    CALPE_TRY(opened->moved_, find_moved(*opened));
  }
  if (!opened->moved_.pieces.empty()) {
    CALPE_TRY(OriginalPlace again, OriginalPlace::open(opened->manifest_, opened->original_));
    opened->moved_content_ = std::make_unique<OriginalContent>(opened->manifest_, std::move(again),
                                                               opened->moved_.pieces);
  }
  return opened;
}

Result<bool> OriginalShards::read_manifest_at(File& file, std::uint64_t file_bytes,
                                              std::uint64_t offset) {
  const std::uint64_t bytes = header_.manifest_bytes;
  // Check that the file is long enough before allocating memory.
  if (offset > file_bytes || bytes > file_bytes - offset) return false;
  Result<std::vector<std::byte>> read =
      store::read_manifest(bytes, [&](std::span<std::byte> piece, std::uint64_t from) -> Status {
        if (read_fully(file, piece, offset + from)) return Done{};
        return make_error(ErrorCode::corrupt, file.path(), ": cannot read the file list");
      });
  if (!read) return false;
  Result<Manifest> parsed =
      parse_manifest(*read, header_.content_bytes, header_.version >= header_version_digests);
  if (!parsed && parsed.error().code == ErrorCode::out_of_memory) return parsed.error();
  if (!parsed) return false;
  const auto& entries = parsed->entries;
  if (!entries.empty() && entries.front().type == EntryType::stream) return false;
  manifest_ = *std::move(parsed);
  manifest_bytes_ = *std::move(read);
  return true;
}

Status OriginalShards::read_manifest() {
  for (const Parity& parity : parity_) {
    for (const std::int64_t shift : {std::int64_t{0}, parity.found.shift}) {
      for (const std::uint64_t offset : list_offsets(header_)) {
        const std::int64_t at = static_cast<std::int64_t>(offset) + shift;
        if (at < 0) continue;
        CALPE_TRY(const bool is_read, read_manifest_at(*parity.file, parity.found.file_bytes,
                                                       static_cast<std::uint64_t>(at)));
        if (is_read) return Done{};
      }
    }
  }
  return make_error(ErrorCode::unrecoverable, "no parity file has a good file list");
}

// Used when no page is marked good: takes the majority value for each stripe. A wrong checksum
// makes a good block count as damaged, never the reverse.
std::optional<OriginalShards::Page> OriginalShards::voted_page(
    const std::vector<Page>& pages) const {
  if (pages.empty()) return std::nullopt;
  Page voted = pages.front();
  for (std::size_t j = 0; j < voted.size(); ++j) {
    std::ptrdiff_t most = 0;
    for (const Page& page : pages) {
      const auto votes = std::count_if(pages.begin(), pages.end(),
                                       [&](const Page& other) { return other[j] == page[j]; });
      if (votes > most) voted[j] = page[j];
      most = std::max(most, votes);
    }
  }
  return voted;
}

// Page 1 + index of the group in the parity files.
std::optional<OriginalShards::Page> OriginalShards::page_of(ShardIndex index,
                                                            std::uint64_t group) const {
  const std::uint64_t first = group * group_stripes;
  const std::size_t number = std::size_t{1} + index;
  std::vector<Page> doubtful;
  for (const Parity& parity : parity_) {
    for (const std::int64_t shift : {std::int64_t{0}, parity.found.shift}) {
      const auto at = [&](std::uint64_t offset) {
        return offset + static_cast<std::uint64_t>(shift);  // wraps around to beyond any file
      };
      Page page(group_stripes);
      LittleU64 sum = 0;
      const bool is_read = read_fully(*parity.file, std::as_writable_bytes(std::span(page)),
                                      at(geometry_.checksum_offset(first, number)));
      if (!is_read) continue;
      const bool is_sum_read = read_fully(
          *parity.file, std::as_writable_bytes(std::span(&sum, 1)),
          at(geometry_.checksum_offset(first, geometry_.page_count - 1) + number * sizeof sum));
      const auto expected = original_page_checksum(group_name(header_, group), number,
                                                   std::as_bytes(std::span(page)));
      if (is_sum_read && sum == expected) return page;
      doubtful.push_back(std::move(page));
      if (parity.found.shift == 0) break;
    }
  }
  return computed_page(index, group, voted_page(doubtful));
}

std::optional<OriginalShards::Page> OriginalShards::computed_page(ShardIndex index,
                                                                  std::uint64_t group,
                                                                  std::optional<Page> voted) const {
  if (!manifest_.has_digests || content_ == nullptr) return voted;
  const std::uint64_t first = index * header_.stripe_count + group * group_stripes;  // block
  const auto all = content_->pieces_in(first * header_.block_bytes,
                                       geometry_.stripes_in_group(group) * header_.block_bytes);
  const bool is_any_intact = std::any_of(
      all.begin(), all.end(), [&](const OriginalPiece& piece) { return is_intact(piece.entry); });
  if (!is_any_intact) return voted;
  const std::scoped_lock lock(pages_mutex_);
  if (computed_.size() >= computed_pages_max) computed_.clear();
  const auto [known, is_new] = computed_.try_emplace({index, group}, std::nullopt);
  if (!is_new) return known->second;
  Page page = voted ? *std::move(voted) : Page(group_stripes);
  std::vector<std::byte> block(header_.block_bytes);
  for (std::uint64_t j = 0; j < geometry_.stripes_in_group(group); ++j) {
    const BlockName name = {.uuid = header_.uuid,
                            .generation = header_.generation,
                            .stripe = group * group_stripes + j,
                            .shard = index};
    const std::uint64_t at = (index * header_.stripe_count + name.stripe) * block.size();
    const auto pieces = content_->pieces_in(at, block.size());
    const bool is_known =
        std::all_of(pieces.begin(), pieces.end(),
                    [&](const OriginalPiece& piece) { return is_intact(piece.entry); });
    if (is_known && content_->read(block, at)) page[j] = block_checksum(name, block);
  }
  known->second = std::move(page);
  return known->second;
}

bool OriginalShards::is_intact(std::size_t entry) const {
  if (!manifest_.has_digests) return false;
  const std::scoped_lock lock(intact_mutex_);
  const auto [known, is_new] = intact_.try_emplace(entry, false);
  if (!is_new) return known->second;
  if (!place_) {
    Result<OriginalPlace> opened = OriginalPlace::open(manifest_, original_);
    if (!opened) return false;
    place_.emplace(*std::move(opened));
  }
  const Entry& wanted = manifest_.entries[entry];
  const Result<Descriptor> file = place_->open_file(wanted);
  struct stat about = {};
  if (!file || !*file || ::fstat(file->get(), &about) != 0) return false;
  if (static_cast<std::uint64_t>(about.st_size) != wanted.file_bytes) return false;
  const auto digest = digest_of_file(file->get(), wanted, place_->full_name(wanted));
  known->second = digest && *digest == wanted.digest;
  return known->second;
}

std::vector<ContentRange> OriginalShards::fill_intact(std::span<std::byte> bytes,
                                                      std::uint64_t offset,
                                                      std::span<const ContentRange> lost) const {
  std::vector<ContentRange> left;
  for (const ContentRange& range : lost) {
    std::uint64_t begin = range.begin;  // of what is still lost
    for (const OriginalPiece& piece : content_->pieces_in(range.begin, range.bytes())) {
      const std::uint64_t from = std::max(range.begin, piece.content_offset);
      const std::uint64_t to = std::min(range.end, piece.end());
      const auto part = bytes.subspan(from - offset, to - from);
      if (!is_intact(piece.entry) || !content_->read(part, from)) continue;
      if (from > begin) left.push_back({begin, from});
      begin = to;
    }
    if (range.end > begin) left.push_back({begin, range.end});
  }
  return left;
}

bool OriginalShards::is_rest_good(const FoundShard& found, File& file) const {
  if (found.file_bytes != shard_file_bytes(header_)) return false;
  Page pages(geometry_.page_count * group_stripes);
  const std::uint64_t groups = divide_up(geometry_.stripe_count, group_stripes);
  for (std::uint64_t group = 0; group < groups; ++group) {
    const std::uint64_t first = group * group_stripes;
    if (!read_fully(file, std::as_writable_bytes(std::span(pages)),
                    geometry_.checksum_offset(first))) {
      return false;
    }
    const auto good = good_original_pages(group_name(header_, group), pages);
    const auto unused = std::span(pages).last(group_stripes).subspan(good.size());
    const bool is_good =
        std::all_of(good.begin(), good.end(), [](bool one) { return one; }) &&
        std::all_of(unused.begin(), unused.end(), [](std::uint64_t number) { return number == 0; });
    if (!is_good) return false;
  }
  std::vector<std::byte> own;
  const auto parts = list_parts(header_, manifest_bytes_);
  return std::all_of(parts.begin(), parts.end(), [&](const ListPart& part) {
    own.resize(part.bytes.size());
    return read_fully(file, own, part.offset) && std::ranges::equal(own, part.bytes);
  });
}

class OriginalShardFile final : public File {
 public:
  OriginalShardFile(std::shared_ptr<OriginalShards> shards, const OriginalContent& content,
                    ShardIndex index)
      : shards_(std::move(shards)), content_(content), index_(index) {}

  const std::string& path() const noexcept override { return shards_->original_; }
  Result<std::uint64_t> size() override { return shard_file_bytes(shards_->header_); }

  // Reads a run of blocks in one group, or checksums of one group.
  Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
    const Geometry& geometry = shards_->geometry_;
    if (offset < header_bytes || geometry.stripe_count == 0) return std::size_t{0};
    const std::uint64_t groups = divide_up(geometry.stripe_count, group_stripes);
    const std::uint64_t group =
        std::min(groups - 1,
                 (offset - header_bytes) / (geometry.group_offset(1) - geometry.group_offset(0)));
    const std::uint64_t pages = geometry.checksum_offset(group * group_stripes);
    if (offset < pages) return read_blocks(bytes, offset, group);
    return read_checksums(bytes, offset - pages, group);
  }

  Status write_at(std::span<const std::byte>, std::uint64_t) override { return read_only(); }
  Status resize(std::uint64_t) override { return read_only(); }
  Status sync() override { return read_only(); }

 private:
  Error read_only() const {
    return make_error(ErrorCode::io, "data shard ", index_, " of ", path(), " is not a file");
  }

  Result<std::size_t> read_blocks(std::span<std::byte> bytes, std::uint64_t offset,
                                  std::uint64_t group) const {
    const ShardHeader& header = shards_->header_;
    const std::uint64_t first = group * group_stripes;
    const std::uint64_t from = offset - shards_->geometry_.block_offset(first);
    const std::uint64_t left =
        shards_->geometry_.stripes_in_group(group) * header.block_bytes - from;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left));
    // A data shard is a contiguous part of the content.
    const std::uint64_t at = (index_ * header.stripe_count + first) * header.block_bytes + from;
    CALPE_CHECK(content_.read(bytes.first(count), at));
    return count;
  }

  Result<std::size_t> read_checksums(std::span<std::byte> bytes, std::uint64_t from,
                                     std::uint64_t group) {
    if (from >= page_bytes) return std::size_t{0};
    const std::scoped_lock lock(mutex_);
    if (!page_ || group_ != group) {
      page_ = shards_->page_of(index_, group);
      group_ = group;
    }
    if (!page_) return std::size_t{0};
    const auto page = std::as_bytes(std::span(*page_)).subspan(from);
    const std::size_t count = std::min(bytes.size(), page.size());
    std::memcpy(bytes.data(), page.data(), count);
    return count;
  }

  std::shared_ptr<OriginalShards> shards_;
  const OriginalContent& content_;  // of shards_
  ShardIndex index_;
  std::mutex mutex_;  // guards the last requested page
  std::optional<OriginalShards::Page> page_;
  std::uint64_t group_ = 0;
};

std::unique_ptr<File> OriginalShards::shard(ShardIndex index) {
  return std::make_unique<OriginalShardFile>(shared_from_this(), *content_, index);
}

std::unique_ptr<File> OriginalShards::moved_shard(ShardIndex index) {
  return std::make_unique<OriginalShardFile>(shared_from_this(), *moved_content_, index);
}

}  // namespace calpe::store
