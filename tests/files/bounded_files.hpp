// SPDX-License-Identifier: Apache-2.0
// Files in memory with a space limit, for several threads: a hostile size never allocates memory.
// An open file outlives its name, as on a real system.
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/io/file_system.hpp"

namespace calpe::tests {

class BoundedFiles final : public store::FileSystem {
 public:
  using Bytes = std::vector<std::byte>;

  // Do not call while the store is running.
  void put(const std::string& path, Bytes bytes) {
    files_[path] = std::make_shared<Node>();
    files_[path]->bytes = std::move(bytes);
  }
  std::map<std::string, Bytes> all() const {
    std::map<std::string, Bytes> found;
    for (const auto& [path, node] : files_)
      found[path] = node->bytes;
    return found;
  }
  void clear() { files_.clear(); }

  Result<std::unique_ptr<store::File>> open(const std::string& path) override {
    return opened(path, false);
  }
  Result<std::unique_ptr<store::File>> open_to_change(const std::string& path) override {
    return opened(path, true);
  }
  Result<std::unique_ptr<store::File>> create(const std::string& path) override {
    const std::scoped_lock lock(mutex_);
    if (files_.contains(path)) return error(path, "exists");
    files_[path] = std::make_shared<Node>();
    return std::unique_ptr<store::File>(std::make_unique<OpenFile>(path, files_[path], true));
  }
  Status rename(const std::string& from, const std::string& to) override {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(from);
    if (found == files_.end()) return error(from, "does not exist");
    auto node = found->second;
    files_.erase(found);
    files_[to] = std::move(node);
    return Done{};
  }
  Status remove(const std::string& path) override {
    const std::scoped_lock lock(mutex_);
    files_.erase(path);
    return Done{};
  }
  Status make_folders(const std::string&) override { return Done{}; }
  Status sync_folder(const std::string&) override { return Done{}; }
  Result<std::vector<std::string>> list(const std::string& path) override {
    const std::scoped_lock lock(mutex_);
    if (files_.contains(path)) return error(path, "is not a directory");
    const std::string start = path + "/";
    std::vector<std::string> names;
    for (const auto& [name, node] : files_) {
      if (name.starts_with(start)) names.push_back(name.substr(start.size()));
    }
    return names;  // sorted by the map
  }

 private:
  struct Node {
    std::mutex mutex;
    Bytes bytes;
  };

  class OpenFile final : public store::File {
   public:
    OpenFile(std::string path, std::shared_ptr<Node> node, bool may_change)
        : path_(std::move(path)), node_(std::move(node)), may_change_(may_change) {}
    const std::string& path() const noexcept override { return path_; }
    Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
      const std::scoped_lock lock(node_->mutex);
      const Bytes& all = node_->bytes;
      if (offset >= all.size()) return std::size_t{0};
      const std::size_t count = std::min(bytes.size(), all.size() - offset);
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(offset), count, bytes.begin());
      return count;
    }
    Status write_at(std::span<const std::byte> bytes, std::uint64_t offset) override {
      const std::scoped_lock lock(node_->mutex);
      if (!may_change_) return error(path_, "is open to read");
      if (offset + bytes.size() > file_bytes_max) return error(path_, "no space");
      if (node_->bytes.size() < offset + bytes.size()) node_->bytes.resize(offset + bytes.size());
      std::copy(bytes.begin(), bytes.end(),
                node_->bytes.begin() + static_cast<std::ptrdiff_t>(offset));
      return Done{};
    }
    Result<std::uint64_t> size() override {
      const std::scoped_lock lock(node_->mutex);
      return std::uint64_t{node_->bytes.size()};
    }
    Status resize(std::uint64_t bytes) override {
      const std::scoped_lock lock(node_->mutex);
      if (!may_change_) return error(path_, "is open to read");
      if (bytes > file_bytes_max) return error(path_, "no space");
      node_->bytes.resize(bytes);
      return Done{};
    }
    Status sync() override { return Done{}; }

   private:
    // A hostile size must not allocate memory here.
    static constexpr std::uint64_t file_bytes_max = std::uint64_t{1} << 26U;
    std::string path_;
    std::shared_ptr<Node> node_;
    bool may_change_;
  };

  static Error error(const std::string& path, const std::string& problem) {
    return {ErrorCode::io, path + ": " + problem};
  }
  Result<std::unique_ptr<store::File>> opened(const std::string& path, bool may_change) {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(path);
    if (found == files_.end()) return error(path, "does not exist");
    return std::unique_ptr<store::File>(
        std::make_unique<OpenFile>(path, found->second, may_change));
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Node>> files_;
};

}  // namespace calpe::tests
