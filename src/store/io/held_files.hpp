// SPDX-License-Identifier: Apache-2.0
// Wraps a file system and keeps files open and locked. Every caller that uses a path gets the same
// open file, so the file that was checked is the file that is written, even if another file has
// taken its name. New files are locked from the start and stay locked when they are renamed. Locks
// end with the object or the process.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/io/file_system.hpp"

namespace calpe::store {

// Error of a command that cannot get its lock. Appends `what`.
Error locked_error(LockKind wanted);
Error locked_error(std::string_view what);
bool is_locked_error(const Error& error) noexcept;

class HeldFiles final : public FileSystem {
 public:
  HeldFiles(FileSystem& beneath, LockKind kind) : beneath_(&beneath), kind_(kind) {}

  // Opens and locks a file, for writing if the lock is exclusive and the caller may write it.
  // Returns false if another file took the name; find the files again. Fails with io, and with
  // locked_error() if another process holds a conflicting lock.
  Result<bool> hold(const std::string& path);
  bool is_held(const std::string& path) const { return held_.contains(path); }

  Result<std::unique_ptr<File>> open(const std::string& path) override;
  Result<std::unique_ptr<File>> open_to_change(const std::string& path) override;
  Result<std::unique_ptr<File>> create(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_folders(const std::string& path) override { return beneath_->make_folders(path); }
  Status sync_folder(const std::string& path) override { return beneath_->sync_folder(path); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return beneath_->list(path);
  }
  Result<FileId> identity(const std::string& path) override { return beneath_->identity(path); }
  Status write_all(std::span<const Write> writes) override { return beneath_->write_all(writes); }
  void read_all(std::span<Read> reads) override { beneath_->read_all(reads); }
  bool reads_together() const noexcept override { return beneath_->reads_together(); }

  struct Held {
    std::unique_ptr<File> file;
    LockKind kind = LockKind::shared;
    std::string not_writable = {};  // reason; empty: writable
  };

 private:
  std::unique_ptr<File> share(const std::string& path, std::shared_ptr<Held> held) const;
  Result<std::shared_ptr<Held>> open_beneath(const std::string& path) const;
  // Returns false if another file took the name.
  Result<bool> lock_named(File& file, const std::string& path, LockKind kind) const;

  FileSystem* beneath_;
  LockKind kind_;
  std::map<std::string, std::shared_ptr<Held>> held_;  // by path
};

}  // namespace calpe::store
