// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/assert.hpp"
#include "base/env.hpp"
#include "base/text.hpp"

extern char** environ;

namespace calpe {

namespace {

struct FileActions {
  FileActions() { posix_spawn_file_actions_init(&actions); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t actions;
};

struct Attributes {
  Attributes() { posix_spawnattr_init(&attributes); }
  ~Attributes() { posix_spawnattr_destroy(&attributes); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t attributes;
};

#if CALPE_HAS_SPAWN_CLOSEFROM

void close_others(FileActions& files) {
  posix_spawn_file_actions_addclosefrom_np(&files.actions, STDERR_FILENO + 1);
}

#else  // glibc before 2.34: a file that another thread opens meanwhile is inherited

void close_others(FileActions& files) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), &closedir);
  while (const dirent* const found = folder ? readdir(folder.get()) : nullptr) {
    const int number = std::atoi(found->d_name);  // 0 for . and ..
    if (number > STDERR_FILENO) posix_spawn_file_actions_addclose(&files.actions, number);
  }
}

#endif

void redirect(FileActions& files, int output) {
  posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files.actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files.actions, output, STDERR_FILENO);
  close_others(files);
}

// Gives the child its own process group and default signal handling.
void isolate(Attributes& attributes) {
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes.attributes, &none);
  posix_spawnattr_setsigdefault(&attributes.attributes, &all);
  posix_spawnattr_setpgroup(&attributes.attributes, 0);
  posix_spawnattr_setflags(
      &attributes.attributes,
      static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
}

// Returns `own` and the inherited variables with other names; points into both.
std::vector<char*> all_variables(std::vector<std::string>& own) {
  std::vector<char*> variables;
  const auto is_own = [&](std::string_view inherited) {
    return std::any_of(own.begin(), own.end(), [&](const std::string& variable) {
      return inherited.starts_with(std::string_view(variable).substr(0, variable.find('=') + 1));
    });
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_own(*variable)) variables.push_back(*variable);
  }
  for (std::string& variable : own)
    variables.push_back(variable.data());
  variables.push_back(nullptr);
  return variables;
}

std::string read_all(int file, std::size_t bytes_max) {
  struct stat about = {};
  if (fstat(file, &about) != 0) return {};
  std::string bytes(std::min(static_cast<std::size_t>(about.st_size), bytes_max), '\0');
  const ssize_t got = pread(file, bytes.data(), bytes.size(), 0);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

// Also kills the leader itself: under emulators it may not have created its group yet. It is not
// reaped yet, so its process id is still valid.
void kill_group(pid_t leader) {
  CALPE_ASSERT(leader > 1);  // -1 would signal every process we may signal
  kill(-leader, SIGKILL);
  kill(leader, SIGKILL);
}

bool is_program(const std::string& path) {
  struct stat about = {};
  return stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string to_string(const ExitStatus& status) {
  switch (status.kind) {
    case ExitStatus::Kind::exited:
      return text("exited with ", status.code);
    case ExitStatus::Kind::signalled:
      return text("killed by signal ", status.code);
    case ExitStatus::Kind::timed_out:
      return "killed after its time limit";
    case ExitStatus::Kind::unknown:
      break;
  }
  return "exit status unknown";
}

std::optional<std::string> find_program(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos) {
    std::string path(name);
    return is_program(path) ? std::optional(std::move(path)) : std::nullopt;
  }
  const std::string folders = environment("PATH").value_or("/usr/bin:/bin");
  for (std::size_t start = 0; start <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', start), folders.size());
    std::string path = text(folders.substr(start, end - start), "/", name);
    // An empty part of PATH means the current directory; never run programs from there.
    if (end != start && is_program(path)) return path;
    start = end + 1;
  }
  return std::nullopt;
}

Result<Subprocess> Subprocess::start(const std::vector<std::string>& arguments,
                                     std::chrono::milliseconds time_limit,
                                     std::vector<std::string> variables,
                                     std::size_t output_bytes_max) {
  if (is_privileged()) {
    return make_error(ErrorCode::io, arguments[0],
                      " is not started: this process runs with elevated privileges");
  }
  // Under emulators a failed exec appears as an exit code, not as an error.
  if (access(arguments[0].c_str(), X_OK) != 0) {
    return make_error(ErrorCode::io, "cannot start ", arguments[0], ": ", std::strerror(errno));
  }
  const int output = memfd_create("calpe-output", MFD_CLOEXEC);
  if (output < 0) return make_error(ErrorCode::io, "memfd_create: ", std::strerror(errno));
  FileActions files;
  redirect(files, output);
  Attributes attributes;
  isolate(attributes);
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));  // execve's type; it does not write
  argv.push_back(nullptr);
  variables.emplace_back("LC_ALL=C");
  const std::vector<char*> all = all_variables(variables);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, argv[0], &files.actions, &attributes.attributes, argv.data(), all.data());
  if (error != 0) {
    close(output);
    return make_error(ErrorCode::io, "cannot start ", arguments[0], ": ", std::strerror(error));
  }
  return Subprocess(pid, output, output_bytes_max, std::chrono::steady_clock::now() + time_limit);
}

Subprocess::Subprocess(int pid, int output, std::size_t output_bytes_max,
                       std::chrono::steady_clock::time_point deadline)
    : pid_(pid),
      parent_(getpid()),
      output_(output),
      output_bytes_max_(output_bytes_max),
      deadline_(deadline) {}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      parent_(other.parent_),
      output_(std::exchange(other.output_, -1)),
      output_bytes_max_(other.output_bytes_max_),
      deadline_(other.deadline_),
      status_(std::move(other.status_)) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(parent_, other.parent_);
  std::swap(output_, other.output_);
  std::swap(output_bytes_max_, other.output_bytes_max_);
  std::swap(deadline_, other.deadline_);
  std::swap(status_, other.status_);
  return *this;
}

Subprocess::~Subprocess() {
  if (pid_ != -1 && is_ours()) {
    kill_group(pid_);
    reap(0);
  }
  if (output_ != -1) close(output_);
}

bool Subprocess::is_ours() const noexcept {
  return parent_ == getpid();
}

ExitStatus Subprocess::ended(ExitStatus::Kind kind, int code) {
  pid_ = -1;
  status_ = ExitStatus{.kind = kind, .code = code, .output = read_all(output_, output_bytes_max_)};
  return *status_;
}

std::optional<ExitStatus> Subprocess::reap(int options) {
  int status = 0;
  pid_t got = -1;
  do {
    got = waitpid(pid_, &status, options);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return std::nullopt;
  if (got < 0) return ended(ExitStatus::Kind::unknown, 0);
  if (WIFSIGNALED(status)) return ended(ExitStatus::Kind::signalled, WTERMSIG(status));
  return ended(ExitStatus::Kind::exited, WEXITSTATUS(status));
}

ExitStatus Subprocess::kill_it() {
  kill_group(pid_);
  reap(0);
  status_->kind = ExitStatus::Kind::timed_out;
  status_->code = 0;
  return *status_;
}

std::optional<ExitStatus> Subprocess::poll() {
  if (status_) return status_;
  if (!is_ours()) return ended(ExitStatus::Kind::unknown, 0);
  if (std::optional<ExitStatus> status = reap(WNOHANG)) return status;
  if (std::chrono::steady_clock::now() < deadline_) return std::nullopt;
  return kill_it();
}

ExitStatus Subprocess::wait() {
  // waitpid has no time limit, so poll. A compiler takes tens of milliseconds at least.
  std::chrono::microseconds pause(200);
  for (;;) {
    if (std::optional<ExitStatus> status = poll()) return *std::move(status);
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(5000));
  }
}

}  // namespace calpe
