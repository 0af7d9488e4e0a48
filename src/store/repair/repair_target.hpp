// SPDX-License-Identifier: Apache-2.0
// A file under repair, changed in place or rebuilt under a temporary name. Writes are ordered so
// that a crash at any moment leaves a good header and all blocks that were good.
#pragma once
#include <memory>
#include <string>

#include "store/read/stripe_window.hpp"

namespace calpe::store {

class RepairTarget {
 public:
  // For a file whose blocks are at their offsets, as far as it has them.
  static Result<std::unique_ptr<RepairTarget>> change(FileSystem& files, const ShardHeader& header,
                                                      const ShardCopy& copy);
  // For a new file; replaces an existing file at `path` when it is complete.
  static Result<std::unique_ptr<RepairTarget>> make(FileSystem& files, const ShardHeader& header,
                                                    ShardIndex index, const std::string& path,
                                                    const std::string& temporary);
  // Removes the temporary file unless finished.
  ~RepairTarget();
  RepairTarget(const RepairTarget&) = delete;
  RepairTarget& operator=(const RepairTarget&) = delete;

  const std::string& path() const noexcept { return path_; }
  bool is_made_anew() const noexcept { return !temporary_.empty(); }

  Status begin();  // makes the front header durable and sets the size
  // Writes blocks of consecutive stripes in one group, and their checksums.
  Status write(const StripeRun& run, std::span<const std::byte> blocks);
  Status sync() { return file_->sync(); }
  // Writes other bytes: further pages, a manifest.
  Status write_rest(std::span<const std::byte> bytes, std::uint64_t offset);
  Status finish();  // makes everything durable, under its final name

 private:
  RepairTarget(FileSystem& files, const ShardHeader& header, ShardIndex index);

  FileSystem& files_;
  ShardHeader header_;
  Geometry geometry_;
  std::string path_;
  std::string temporary_;  // empty: in place
  std::unique_ptr<File> file_;
  bool is_front_good_ = false;
  bool is_back_good_ = false;
};

}  // namespace calpe::store
