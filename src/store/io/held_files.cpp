// SPDX-License-Identifier: Apache-2.0
#include "store/io/held_files.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::store {

namespace {

constexpr std::string_view locked_text = "another calpe is changing this set";

class SharedFile final : public File {
 public:
  SharedFile(std::string path, std::shared_ptr<HeldFiles::Held> held)
      : path_(std::move(path)), held_(std::move(held)) {}

  const std::string& path() const noexcept override { return path_; }
  Result<std::size_t> read_at(std::span<std::byte> bytes, std::uint64_t offset) override {
    return file().read_at(bytes, offset);
  }
  Status write_at(std::span<const std::byte> bytes, std::uint64_t offset) override {
    return file().write_at(bytes, offset);
  }
  Result<std::uint64_t> size() override { return file().size(); }
  DataRange data_from(std::uint64_t offset) override { return file().data_from(offset); }
  void drop_cached(std::uint64_t offset, std::uint64_t bytes) override {
    file().drop_cached(offset, bytes);
  }
  Status resize(std::uint64_t bytes) override { return file().resize(bytes); }
  Status sync() override { return file().sync(); }
  int descriptor() const noexcept override { return file().descriptor(); }
  int direct_descriptor() const noexcept override { return file().direct_descriptor(); }
  Result<FileId> identity() override { return file().identity(); }
  // All callers share the lock, so it never becomes weaker.
  Result<bool> lock(LockKind kind) override {
    if (held_->kind == LockKind::exclusive || kind == LockKind::shared) return true;
    CALPE_TRY(const bool is_ours, file().lock(kind));
    if (is_ours) held_->kind = kind;
    return is_ours;
  }

 private:
  File& file() const noexcept { return *held_->file; }

  std::string path_;
  std::shared_ptr<HeldFiles::Held> held_;
};

}  // namespace

Error locked_error(LockKind wanted) {
  return locked_error(wanted == LockKind::exclusive ? ", or reading it" : "");
}

Error locked_error(std::string_view what) {
  return make_error(ErrorCode::io, locked_text, what);
}

bool is_locked_error(const Error& error) noexcept {
  return error.code == ErrorCode::io && error.message.starts_with(locked_text);
}

Result<std::shared_ptr<HeldFiles::Held>> HeldFiles::open_beneath(const std::string& path) const {
  auto held = std::make_shared<Held>();
  if (kind_ == LockKind::shared) {
    CALPE_TRY(held->file, beneath_->open(path));
    return held;
  }
  Result<std::unique_ptr<File>> writable = beneath_->open_to_change(path);
  if (writable) {
    held->file = *std::move(writable);
    return held;
  }
  // A file that cannot be written may still be read.
  held->not_writable = writable.error().message;
  CALPE_TRY(held->file, beneath_->open(path));
  return held;
}

Result<bool> HeldFiles::lock_named(File& file, const std::string& path, LockKind kind) const {
  CALPE_TRY(const bool is_ours, file.lock(kind));
  if (!is_ours) return locked_error(kind);
  // The file may have been replaced before it was locked.
  CALPE_TRY(const FileId identity, file.identity());
  const Result<FileId> named = beneath_->identity(path);
  return named && *named == identity;
}

Result<bool> HeldFiles::hold(const std::string& path) {
  if (is_held(path)) return true;
  Result<std::shared_ptr<Held>> file = open_beneath(path);
  if (!file && !beneath_->identity(path)) {
    const auto names = beneath_->list(folder_of(path));
    const std::string name = path.substr(path.rfind('/') + 1);
    if (!names || std::find(names->begin(), names->end(), name) == names->end()) return false;
  }
  CALPE_TRY(std::shared_ptr<Held> opened, std::move(file));
  CALPE_TRY(const FileId identity, opened->file->identity());
  // Same file under another name: two locks of one process would conflict.
  for (const auto& [name, other] : held_) {
    CALPE_TRY(const FileId known, other->file->identity());
    if (!identity.is_known() || identity != known) continue;
    held_.emplace(path, other);
    return true;
  }
  CALPE_TRY(const bool is_ours, lock_named(*opened->file, path, kind_));
  if (!is_ours) return false;
  opened->kind = kind_;
  held_.emplace(path, std::move(opened));
  return true;
}

std::unique_ptr<File> HeldFiles::share(const std::string& path, std::shared_ptr<Held> held) const {
  return std::make_unique<SharedFile>(path, std::move(held));
}

Result<std::unique_ptr<File>> HeldFiles::open(const std::string& path) {
  const auto held = held_.find(path);
  if (held == held_.end()) return beneath_->open(path);
  return share(path, held->second);
}

Result<std::unique_ptr<File>> HeldFiles::open_to_change(const std::string& path) {
  const auto held = held_.find(path);
  if (held == held_.end()) return beneath_->open_to_change(path);
  if (!held->second->not_writable.empty()) {
    return make_error(ErrorCode::io, held->second->not_writable);
  }
  if (held->second->kind != LockKind::exclusive) return locked_error(LockKind::exclusive);
  return share(path, held->second);
}

Result<std::unique_ptr<File>> HeldFiles::create(const std::string& path) {
  auto held = std::make_shared<Held>();
  CALPE_TRY(held->file, beneath_->create(path));
  // Until it is locked, a protect may remove it as a leftover.
  const Result<bool> is_ours = lock_named(*held->file, path, LockKind::exclusive);
  if (!is_ours) {
    static_cast<void>(beneath_->remove(path));  // another error is reported already
    return is_ours.error();
  }
  if (!*is_ours) return locked_error(LockKind::exclusive);  // another file took the name
  held->kind = LockKind::exclusive;
  held_[path] = held;
  return share(path, std::move(held));
}

Status HeldFiles::rename(const std::string& from, const std::string& to) {
  CALPE_CHECK(beneath_->rename(from, to));
  held_.erase(to);
  if (auto moved = held_.extract(from); !moved.empty()) {
    moved.key() = to;
    held_.insert(std::move(moved));
  }
  return Done{};
}

Status HeldFiles::remove(const std::string& path) {
  CALPE_CHECK(beneath_->remove(path));
  held_.erase(path);  // frees its space now
  return Done{};
}

}  // namespace calpe::store
