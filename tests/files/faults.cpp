// SPDX-License-Identifier: Apache-2.0
// Makes disk calls of the real command fail on request. Loaded with LD_PRELOAD.
//   CALPE_FAULT_ROOT  only files below this directory count
//   CALPE_FAULT_AT    number of the call that fails, from 1; 0: none; -1: all
//   CALPE_FAULT_KIND  EIO, ENOSPC (calls that may need space), short (half of a read or write), or
//                     kill (the program ends before the call)
//   CALPE_FAULT_LOG   file that receives "<calls> <function that failed>" at the end
// Closing and removing never fail, as a failed cleanup looks the same as a missing one.
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace {

enum class Kind { eio, enospc, cut, kill };

struct Settings {
  std::string_view root;
  long at = 0;
  Kind kind = Kind::eio;
  const char* log = nullptr;
};

Settings read_settings() {
  Settings settings;
  if (const char* root = std::getenv("CALPE_FAULT_ROOT")) settings.root = root;
  if (const char* at = std::getenv("CALPE_FAULT_AT")) settings.at = std::atol(at);
  const char* kind = std::getenv("CALPE_FAULT_KIND");
  if (kind != nullptr && std::strcmp(kind, "ENOSPC") == 0) settings.kind = Kind::enospc;
  if (kind != nullptr && std::strcmp(kind, "short") == 0) settings.kind = Kind::cut;
  if (kind != nullptr && std::strcmp(kind, "kill") == 0) settings.kind = Kind::kill;
  settings.log = std::getenv("CALPE_FAULT_LOG");
  return settings;
}

const Settings& settings() {
  static const Settings read = read_settings();
  return read;
}

constexpr std::size_t descriptors_max = 4096;
std::array<std::atomic<bool>, descriptors_max> watched = {};
std::atomic<long> calls = 0;
std::atomic<const char*> failed = "-";

bool is_watched(int descriptor) {
  return descriptor >= 0 && static_cast<std::size_t>(descriptor) < descriptors_max &&
         watched[static_cast<std::size_t>(descriptor)];
}

bool is_watched(int folder, const char* path) {
  if (path[0] != '/' && folder != AT_FDCWD) return is_watched(folder);
  return !settings().root.empty() && std::string_view(path).starts_with(settings().root);
}

int watch(int descriptor, bool is_ours) {
  if (descriptor >= 0 && static_cast<std::size_t>(descriptor) < descriptors_max) {
    watched[static_cast<std::size_t>(descriptor)] = is_ours;
  }
  return descriptor;
}

template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void write_log() {
  if (settings().log == nullptr) return;
  std::array<char, 100> text = {};
  const int length =
      std::snprintf(text.data(), text.size(), "%ld %s\n", calls.load(), failed.load());
  static const auto real_open = original<int(const char*, int, ...)>("open");
  static const auto real_write = original<ssize_t(int, const void*, std::size_t)>("write");
  const int file = real_open(settings().log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file >= 0 && real_write(file, text.data(), static_cast<std::size_t>(length)) < 0) return;
}

struct LogAtEnd {
  ~LogAtEnd() { write_log(); }
} log_at_end;

enum class Needs { nothing, space, never_fails };

// True if this call must fail. Sets errno, except for `cut`.
bool is_time(const char* name, Needs needs, bool can_be_cut) {
  const Kind kind = settings().kind;
  if (kind == Kind::enospc && needs != Needs::space) return false;
  if (kind == Kind::cut && !can_be_cut) return false;
  if (kind != Kind::kill && needs == Needs::never_fails) return false;
  if (++calls != settings().at && settings().at != -1) return false;
  failed = name;
  if (kind == Kind::kill) {
    write_log();
    std::raise(SIGKILL);
  }
  if (kind != Kind::cut) errno = kind == Kind::eio ? EIO : ENOSPC;
  return true;
}

int open_any(const char* name, int folder, const char* path, int flags, mode_t mode) {
  static const auto real = original<int(int, const char*, int, ...)>("openat");
  const bool is_ours = is_watched(folder, path);
  const Needs needs = (flags & O_CREAT) != 0 ? Needs::space : Needs::nothing;
  if (is_ours && is_time(name, needs, false)) return -1;
  return watch(real(folder, path, flags, mode), is_ours);
}

mode_t mode_of(int flags, va_list& arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(arguments, unsigned))
                                              : 0;
}

// Reads or writes `count` bytes through `call(count)`.
template <class Call>
ssize_t transfer(const char* name, int descriptor, std::size_t count, Needs needs,
                 const Call& call) {
  if (is_watched(descriptor) && is_time(name, needs, count > 1)) {
    if (settings().kind != Kind::cut) return -1;
    return call(count / 2);
  }
  return call(count);
}

template <class Call>
int simple(const char* name, bool is_ours, Needs needs, const Call& call) {
  return is_ours && is_time(name, needs, false) ? -1 : call();
}

}  // namespace

// NOLINTBEGIN: names and parameters are those of the C library.
extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_any("open", AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_any("open64", AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_any("openat", folder, path, flags, mode);
}
int close(int descriptor) {
  static const auto real = original<int(int)>("close");
  watch(descriptor, false);
  return real(descriptor);
}
ssize_t read(int descriptor, void* bytes, std::size_t count) {
  static const auto real = original<ssize_t(int, void*, std::size_t)>("read");
  return transfer("read", descriptor, count, Needs::nothing,
                  [&](std::size_t size) { return real(descriptor, bytes, size); });
}
ssize_t write(int descriptor, const void* bytes, std::size_t count) {
  static const auto real = original<ssize_t(int, const void*, std::size_t)>("write");
  return transfer("write", descriptor, count, Needs::space,
                  [&](std::size_t size) { return real(descriptor, bytes, size); });
}
ssize_t pread(int descriptor, void* bytes, std::size_t count, off_t offset) {
  static const auto real = original<ssize_t(int, void*, std::size_t, off_t)>("pread");
  return transfer("pread", descriptor, count, Needs::nothing,
                  [&](std::size_t size) { return real(descriptor, bytes, size, offset); });
}
ssize_t pwrite(int descriptor, const void* bytes, std::size_t count, off_t offset) {
  static const auto real = original<ssize_t(int, const void*, std::size_t, off_t)>("pwrite");
  return transfer("pwrite", descriptor, count, Needs::space,
                  [&](std::size_t size) { return real(descriptor, bytes, size, offset); });
}
int fsync(int descriptor) {
  static const auto real = original<int(int)>("fsync");
  return simple("fsync", is_watched(descriptor), Needs::space, [&] { return real(descriptor); });
}
int fdatasync(int descriptor) {
  static const auto real = original<int(int)>("fdatasync");
  return simple("fdatasync", is_watched(descriptor), Needs::space,
                [&] { return real(descriptor); });
}
int ftruncate(int descriptor, off_t size) noexcept {
  static const auto real = original<int(int, off_t)>("ftruncate");
  return simple("ftruncate", is_watched(descriptor), Needs::space,
                [&] { return real(descriptor, size); });
}
int fstat(int descriptor, struct stat* about) noexcept {
  static const auto real = original<int(int, struct stat*)>("fstat");
  return simple("fstat", is_watched(descriptor), Needs::nothing,
                [&] { return real(descriptor, about); });
}
int rename(const char* from, const char* to) noexcept {
  static const auto real = original<int(const char*, const char*)>("rename");
  return simple("rename", is_watched(AT_FDCWD, to), Needs::space, [&] { return real(from, to); });
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static const auto real = original<int(int, const char*, int, const char*)>("renameat");
  return simple("renameat", is_watched(to_folder, to), Needs::space,
                [&] { return real(from_folder, from, to_folder, to); });
}
int unlink(const char* path) noexcept {
  static const auto real = original<int(const char*)>("unlink");
  return simple("unlink", is_watched(AT_FDCWD, path), Needs::never_fails,
                [&] { return real(path); });
}
int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = original<int(const char*, mode_t)>("mkdir");
  return simple("mkdir", is_watched(AT_FDCWD, path), Needs::space,
                [&] { return real(path, mode); });
}
int fchmod(int descriptor, mode_t mode) noexcept {
  static const auto real = original<int(int, mode_t)>("fchmod");
  return simple("fchmod", is_watched(descriptor), Needs::nothing,
                [&] { return real(descriptor, mode); });
}

}  // extern "C"
// NOLINTEND
