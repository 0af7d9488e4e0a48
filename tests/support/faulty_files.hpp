// SPDX-License-Identifier: Apache-2.0
// A file system that counts calls and makes chosen ones fail.
//
//   FaultyFiles files;                         // over posix_files()
//   files.fail_call(7, Fault::no_space);       // the 8th call from now
//   ... protect(files, ...) ...
//   EXPECT_TRUE(files.has_failed());
//
// To fail every call of an operation: run it once, read calls(), then run it once for each smaller
// number. Thread-safe; with threads the order of calls is random.
#pragma once
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "store/io/file_system.hpp"

namespace calpe::tests {

enum class Fault {
  input_output,  // EIO; half of a write is done
  no_space,      // ENOSPC for calls that add bytes or names; half of a write is done
  short_read,    // read_at returns half of the bytes without an error, like an early end of file
  crash,         // this and all later calls fail and do nothing, like kill -9 or a power cut
};

class FaultyFiles final : public store::FileSystem {
 public:
  explicit FaultyFiles(store::FileSystem& beneath = store::posix_files()) : beneath_(beneath) {}

  // Syncs are counted and can fail, but do not wait for the disk, to keep tests fast.
  void skip_syncs() { skips_syncs_ = true; }

  // Counts calls from 0 again and makes call `index` fail, once or (lasting) with all later ones.
  // If the fault does not apply to that call, such as short_read to a write, a lasting fault hits
  // the next call that it applies to; otherwise nothing fails.
  void fail_call(std::uint64_t index, Fault fault, bool lasting = false) {
    fault_ = fault;
    until_ = fault == Fault::crash || lasting ? std::numeric_limits<std::uint64_t>::max() : index;
    has_failed_ = false;
    calls_ = 0;
    from_ = index;
  }
  // Every call on a path with this prefix fails with EIO, like a removed disk.
  void fail_below(std::string prefix) {
    const std::scoped_lock lock(mutex_);
    dead_prefix_ = std::move(prefix);
  }
  void stop_failing() {
    from_ = none;
    const std::scoped_lock lock(mutex_);
    dead_prefix_.clear();
  }

  std::uint64_t calls() const { return calls_; }   // since fail_call() or construction
  bool has_failed() const { return has_failed_; }  // since fail_call() or construction
  std::vector<std::string> log() const {           // "write_at a/b 4096 +65536", all calls
    const std::scoped_lock lock(mutex_);
    return log_;
  }

  Result<std::unique_ptr<store::File>> open(const std::string& path) override {
    if (fails(Kind::other, "open", path)) return error("open", path);
    return wrap(beneath_.open(path));
  }
  Result<std::unique_ptr<store::File>> open_to_change(const std::string& path) override {
    if (fails(Kind::other, "open_to_change", path)) return error("open", path);
    return wrap(beneath_.open_to_change(path));
  }
  Result<std::unique_ptr<store::File>> create(const std::string& path) override {
    if (fails(Kind::growing, "create", path)) return error("create", path);
    return wrap(beneath_.create(path));
  }
  Status rename(const std::string& from, const std::string& to) override {
    if (fails(Kind::growing, text("rename ", from, " to"), to)) return error("rename", to);
    return beneath_.rename(from, to);
  }
  Status remove(const std::string& path) override {
    if (fails(Kind::other, "remove", path)) return error("remove", path);
    return beneath_.remove(path);
  }
  Status make_folders(const std::string& path) override {
    if (fails(Kind::growing, "make_folders", path)) return error("create directory", path);
    return beneath_.make_folders(path);
  }
  Status sync_folder(const std::string& path) override {
    if (fails(Kind::other, "sync_folder", path)) return error("sync directory", path);
    if (skips_syncs_) return Done{};
    return beneath_.sync_folder(path);
  }
  Result<std::vector<std::string>> list(const std::string& path) override {
    if (fails(Kind::other, "list", path)) return error("list", path);
    return beneath_.list(path);
  }

 private:
  enum class Kind { reading, growing, other };
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  class FaultyFile final : public store::File {
   public:
    FaultyFile(FaultyFiles& files, std::unique_ptr<store::File> beneath)
        : files_(files), beneath_(std::move(beneath)) {}
    const std::string& path() const noexcept override { return beneath_->path(); }
    Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
      if (files_.fails(Kind::reading, "read_at", path(), offset, bytes.size())) {
        if (files_.fault_ != Fault::short_read) return files_.error("read", path());
        return beneath_->read_at(bytes.first(bytes.size() / 2), offset);
      }
      return beneath_->read_at(bytes, offset);
    }
    Status write_at(std::span<const std::byte> bytes, std::uint64_t offset) override {
      if (files_.fails(Kind::growing, "write_at", path(), offset, bytes.size())) {
        if (files_.fault_ != Fault::crash) {
          const Status half = beneath_->write_at(bytes.first(bytes.size() / 2), offset);
          if (!half) return half;
        }
        return files_.error("write", path());
      }
      return beneath_->write_at(bytes, offset);
    }
    Result<std::uint64_t> size() override {
      if (files_.fails(Kind::other, "size", path())) return files_.error("look at", path());
      return beneath_->size();
    }
    Status resize(std::uint64_t bytes) override {
      if (files_.fails(Kind::growing, "resize", path(), 0, bytes)) {
        return files_.error("resize", path());
      }
      return beneath_->resize(bytes);
    }
    Status sync() override {
      if (files_.fails(Kind::growing, "sync", path())) return files_.error("sync", path());
      if (files_.skips_syncs_) return Done{};
      return beneath_->sync();
    }

   private:
    FaultyFiles& files_;
    std::unique_ptr<store::File> beneath_;
  };

  Result<std::unique_ptr<store::File>> wrap(Result<std::unique_ptr<store::File>> file) {
    if (!file) return file;
    return std::unique_ptr<store::File>(std::make_unique<FaultyFile>(*this, *std::move(file)));
  }

  // Counts the call.
  bool fails(Kind kind, const std::string& verb, const std::string& path, std::uint64_t offset = 0,
             std::uint64_t bytes = 0) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t index = calls_++;
    log_.push_back(text(verb, " ", path, " ", offset, " +", bytes));
    const bool applies = (fault_ != Fault::no_space || kind == Kind::growing) &&
                         (fault_ != Fault::short_read || kind == Kind::reading);
    const bool is_dead =
        !dead_prefix_.empty() && path.compare(0, dead_prefix_.size(), dead_prefix_) == 0;
    const bool is_chosen = from_ != none && index >= from_ && index <= until_ && applies;
    if (is_dead || is_chosen) has_failed_ = true;
    return is_dead || is_chosen;
  }

  Error error(const char* verb, const std::string& path) const {
    const int number = fault_ == Fault::no_space ? ENOSPC : EIO;
    return make_error(ErrorCode::io, "cannot ", verb, " ", path, ": ", std::strerror(number));
  }

  store::FileSystem& beneath_;
  std::atomic<Fault> fault_ = Fault::input_output;
  std::atomic<std::uint64_t> from_ = none;
  std::atomic<std::uint64_t> until_ = none;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> skips_syncs_ = false;
  mutable std::mutex mutex_;
  std::string dead_prefix_;
  std::vector<std::string> log_;
};

}  // namespace calpe::tests
