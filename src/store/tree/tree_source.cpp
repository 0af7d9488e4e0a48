// SPDX-License-Identifier: Apache-2.0
// Reads a tree as a content: data of its files in the order of the manifest, then the manifest.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "base/little_endian.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "store/format/shard_header.hpp"
#include "store/tree/tree.hpp"
#include "store/tree/tree_files.hpp"

namespace calpe::store {

namespace {

// Files that change while they are read, or that cannot be read, are read again at the end.
constexpr int attempts_max = 3;
constexpr std::chrono::milliseconds pause(200);

class ScannedSource final : public TreeSource {
 public:
  ScannedSource(ScannedTree tree, std::vector<std::byte> manifest, bool skips_unreadable)
      : tree_(std::move(tree)),
        skips_unreadable_(skips_unreadable),
        data_end_(tree_.data_bytes),
        manifest_bytes_(std::move(manifest)) {}

  const Manifest& manifest() const override { return tree_.manifest; }
  const std::vector<std::string>& skipped() const override { return tree_.skipped; }
  const ScannedTree& tree() const override { return tree_; }
  std::optional<std::uint64_t> bytes_expected() const override {
    return data_end_ + manifest_bytes_.size();
  }
  std::uint64_t manifest_offset() const override { return data_end_; }
  std::uint64_t manifest_bytes() const override { return manifest_bytes_.size(); }
  bool is_as_identified() const override { return is_as_identified_; }

  // The manifest has sizes and modification times. This adds change times, which users cannot set.
  std::vector<std::byte> identity() const override {
    std::vector<std::byte> bytes = manifest_bytes_;
    for (const FileIdentity& file : tree_.identities) {
      for (const Little<std::int64_t> part :
           {static_cast<std::int64_t>(file.number), file.change_seconds, file.change_nanoseconds}) {
        const auto raw = std::as_bytes(std::span(&part, 1));
        bytes.insert(bytes.end(), raw.begin(), raw.end());
      }
    }
    return bytes;
  }

  // Called before any read: skipped files are not opened.
  Status skip(std::uint64_t bytes) override {
    for (; entry_ < tree_.manifest.entries.size(); ++entry_, extent_ = 0) {
      const std::vector<Extent>& extents = entry().extents;
      for (; extent_ < extents.size(); ++extent_, extent_done_ = 0) {
        const std::uint64_t now = std::min(bytes, extents[extent_].bytes - extent_done_);
        extent_done_ += now;
        bytes -= now;
        if (extent_done_ < extents[extent_].bytes) return Done{};
      }
    }
    if (bytes > manifest_bytes_.size() - manifest_done_) return invalid("skipped past the end");
    manifest_done_ += static_cast<std::size_t>(bytes);
    return Done{};
  }

  Result<std::size_t> read(std::span<std::byte> bytes) override {
    std::size_t filled = 0;
    while (filled < bytes.size()) {
      const std::span<std::byte> rest = bytes.subspan(filled);
      if (zeros_ > 0) {
        filled += give_zeros(rest);
      } else if (entry_ < tree_.manifest.entries.size()) {
        CALPE_TRY(const std::size_t got, read_entry(rest));
        filled += got;
      } else if (!begin_again()) {
        break;
      }
    }
    if (!is_ended_) return filled;
    CALPE_CHECK(finish_manifest());
    const std::size_t rest =
        std::min(bytes.size() - filled, manifest_bytes_.size() - manifest_done_);
    if (rest != 0) std::memcpy(&bytes[filled], &manifest_bytes_[manifest_done_], rest);
    manifest_done_ += rest;
    return filled + rest;
  }

 private:
  struct Again {
    std::size_t entry = 0;
    std::string why = {};
  };

  const Entry& entry() const { return tree_.manifest.entries[entry_]; }

  // Reads from the current entry and advances at its end.
  Result<std::size_t> read_entry(std::span<std::byte> bytes) {
    auto got = try_entry(bytes);
    if (got || !skips_unreadable_ || tree_.file) return got;
    leave(got.error());
    return std::size_t{0};
  }

  // Closes a file in a call of its own: if the check fails, no bytes of that call are lost.
  Result<std::size_t> try_entry(std::span<std::byte> bytes) {
    if (entry().type == EntryType::file) {
      CALPE_CHECK(files_.open(entry_));
      if (extent_ < entry().extents.size()) return read_extent(bytes);
      CALPE_CHECK(files_.close());
    }
    advance();
    return std::size_t{0};
  }

  Result<std::size_t> read_extent(std::span<std::byte> bytes) {
    const Extent& extent = entry().extents[extent_];
    const std::size_t asked = static_cast<std::size_t>(
        std::min<std::uint64_t>(bytes.size(), extent.bytes - extent_done_));
    CALPE_TRY(const std::size_t got,
              files_.read_some(bytes.first(asked), extent.file_offset + extent_done_));
    extent_done_ += got;
    if (extent_done_ == extent.bytes) {
      extent_done_ = 0;
      ++extent_;
    }
    return got;
  }

  void advance() {
    extent_ = 0;
    extent_done_ = 0;
    entry_ = is_again_ ? tree_.manifest.entries.size() : entry_ + 1;
  }

  // Gives zeros for the rest of the file, whose extents no longer belong to it, and puts it on the
  // list of files to read again.
  void leave(const Error& error) {
    files_.abandon();
    is_as_identified_ = false;
    for (; extent_ < entry().extents.size(); ++extent_, extent_done_ = 0)
      zeros_ += entry().extents[extent_].bytes - extent_done_;
    (is_again_ ? next_again_ : again_).push_back({entry_, error.message});
    advance();
  }

  std::size_t give_zeros(std::span<std::byte> bytes) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), zeros_));
    std::memset(bytes.data(), 0, count);
    zeros_ -= count;
    return count;
  }

  // Opens the next file to be read again. Returns false if there is none.
  bool begin_again() {
    while (!is_ended_) {
      if (!is_again_ || at_again_ == again_.size()) {
        if (is_again_) again_ = std::exchange(next_again_, {});
        is_again_ = true;
        at_again_ = 0;
        is_ended_ = again_.empty() || ++attempt_ > attempts_max;
        if (is_ended_) break;
        std::this_thread::sleep_for(pause);
      }
      const std::size_t index = again_[at_again_++].entry;
      if (const Status looked = scan_again(tree_, index, data_end_); !looked) {
        next_again_.push_back({index, looked.error().message});
        continue;
      }
      for (const Extent& extent : tree_.manifest.entries[index].extents)
        data_end_ += extent.bytes;
      entry_ = index;
      return true;
    }
    return false;
  }

  // Leaves out the files that could not be read.
  Status finish_manifest() {
    if (is_as_identified_ || is_finished_) return Done{};
    is_finished_ = true;
    std::vector<std::size_t> left;
    for (const Again& file : again_) {
      tree_.unreadable.push_back({tree_.manifest.entries[file.entry].path, file.why});
      left.push_back(file.entry);
    }
    std::sort(left.begin(), left.end(), std::greater<>());
    for (const std::size_t index : left) {
      tree_.manifest.entries.erase(tree_.manifest.entries.begin() +
                                   static_cast<std::ptrdiff_t>(index));
      tree_.identities.erase(tree_.identities.begin() + static_cast<std::ptrdiff_t>(index));
    }
    entry_ = tree_.manifest.entries.size();
    CALPE_CHECK(check_manifest(tree_.manifest, data_end_));
    manifest_bytes_ = to_bytes(tree_.manifest);
    return Done{};
  }

  ScannedTree tree_;
  TreeFiles files_{tree_};
  bool skips_unreadable_;
  std::uint64_t data_end_;  // of the content read or expected so far
  std::vector<std::byte> manifest_bytes_;
  std::size_t entry_ = 0;  // next to be read
  std::size_t extent_ = 0;
  std::uint64_t extent_done_ = 0;
  std::size_t manifest_done_ = 0;
  std::uint64_t zeros_ = 0;  // to be given for a file that was left
  std::vector<Again> again_;
  std::vector<Again> next_again_;
  std::size_t at_again_ = 0;
  int attempt_ = 1;
  bool is_again_ = false;                      // the first pass is over
  bool is_ended_ = false;                      // so are all others
  bool is_finished_ = false;                   // the manifest is final
  std::atomic<bool> is_as_identified_ = true;  // read by threads that write shards
};

Result<std::unique_ptr<TreeSource>> make_source(ScannedTree tree, const std::string& shown,
                                                const ScanOptions& options) {
  const Status kept = check_manifest(tree.manifest, tree.data_bytes);
  if (!kept) {
    // Paths or links that are too long, or a name that the file system listed twice.
    return make_error(ErrorCode::io, shown_path(shown), ": ", kept.error().message);
  }
  std::vector<std::byte> bytes = to_bytes(tree.manifest);
  if (bytes.size() > manifest_bytes_max) {
    return make_error(ErrorCode::io, shown_path(shown), ": the manifest has ", bytes.size(),
                      " bytes; expected at most ", manifest_bytes_max);
  }
  return std::unique_ptr<TreeSource>(
      std::make_unique<ScannedSource>(std::move(tree), std::move(bytes), options.skips_unreadable));
}

}  // namespace

Result<std::unique_ptr<TreeSource>> TreeSource::open(const std::string& path,
                                                     const ScanOptions& options) {
  CALPE_TRY(auto tree, scan_tree(path, options));
  return make_source(std::move(tree), path, options);
}

Result<std::unique_ptr<TreeSource>> TreeSource::open_all(const std::vector<std::string>& paths,
                                                         const ScanOptions& options) {
  CALPE_TRY(auto tree, scan_trees(paths, options));
  return make_source(std::move(tree), paths.front(), options);
}

}  // namespace calpe::store
