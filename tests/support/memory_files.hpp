// SPDX-License-Identifier: Apache-2.0
// A file system in memory, fast enough for thousands of damaged sets.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "store/io/file_system.hpp"

namespace calpe::tests {

using Bytes = std::vector<std::byte>;

class MemoryFiles final : public store::FileSystem {
 public:
  std::map<std::string, Bytes> images() const {
    std::map<std::string, Bytes> all;
    for (const auto& [path, bytes] : files_) {
      all[path] = *bytes;
    }
    return all;
  }
  void put(const std::string& path, Bytes bytes) {
    folders_.insert(folder_of(path));
    files_[path] = std::make_shared<Bytes>(std::move(bytes));
  }
  Bytes& at(const std::string& path) { return *files_.at(path); }
  bool has(const std::string& path) const { return files_.contains(path); }

  Result<std::unique_ptr<store::File>> open(const std::string& path) override {
    const auto found = files_.find(path);
    if (found == files_.end()) return error("open", path);
    return make(path, found->second);
  }
  Result<std::unique_ptr<store::File>> open_to_change(const std::string& path) override {
    return open(path);
  }
  Result<std::unique_ptr<store::File>> create(const std::string& path) override {
    if (files_.contains(path) || !folders_.contains(folder_of(path))) return error("create", path);
    put(path, {});
    return open(path);
  }
  Status rename(const std::string& from, const std::string& to) override {
    const auto found = files_.find(from);
    if (found == files_.end()) return error("rename", from);
    files_[to] = found->second;
    files_.erase(from);
    return Done{};
  }
  Status remove(const std::string& path) override {
    files_.erase(path);
    return Done{};
  }
  Status make_folders(const std::string& path) override {
    folders_.insert(path);
    return Done{};
  }
  Status sync_folder(const std::string& path) override {
    if (!folders_.contains(path)) return error("sync directory", path);
    return Done{};
  }
  Result<std::vector<std::string>> list(const std::string& path) override {
    if (!folders_.contains(path)) return error("list", path);
    std::vector<std::string> names;
    for (const auto& [file, bytes] : files_) {
      if (folder_of(file) == path) names.push_back(file.substr(path.size() + 1));
    }
    return names;
  }

 private:
  class MemoryFile final : public store::File {
   public:
    MemoryFile(std::string path, std::shared_ptr<Bytes> bytes)
        : path_(std::move(path)), bytes_(std::move(bytes)) {}
    const std::string& path() const noexcept override { return path_; }
    Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
      if (offset >= bytes_->size()) return std::size_t{0};
      const std::size_t count = std::min<std::size_t>(bytes.size(), bytes_->size() - offset);
      if (count > 0) std::memcpy(bytes.data(), bytes_->data() + offset, count);
      return count;
    }
    Status write_at(std::span<const std::byte> bytes, std::uint64_t offset) override {
      if (bytes_->size() < offset + bytes.size()) bytes_->resize(offset + bytes.size());
      if (!bytes.empty()) std::memcpy(bytes_->data() + offset, bytes.data(), bytes.size());
      return Done{};
    }
    Result<std::uint64_t> size() override { return std::uint64_t{bytes_->size()}; }
    Status resize(std::uint64_t bytes) override {
      bytes_->resize(bytes);
      return Done{};
    }
    Status sync() override { return Done{}; }

   private:
    std::string path_;
    std::shared_ptr<Bytes> bytes_;
  };

  static std::string folder_of(const std::string& path) {
    return path.substr(0, path.find_last_of('/'));
  }
  static Result<std::unique_ptr<store::File>> make(const std::string& path,
                                                   std::shared_ptr<Bytes> bytes) {
    return std::unique_ptr<store::File>(std::make_unique<MemoryFile>(path, std::move(bytes)));
  }
  static Error error(const char* verb, const std::string& path) {
    return make_error(ErrorCode::io, "cannot ", verb, " ", path, ": no such file");
  }

  std::map<std::string, std::shared_ptr<Bytes>> files_;
  std::set<std::string> folders_;
};

}  // namespace calpe::tests
