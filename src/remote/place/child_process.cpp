// SPDX-License-Identifier: Apache-2.0
#include "remote/place/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"

extern char** environ;

namespace calpe::remote {

namespace {

constexpr std::size_t errors_max = 4096;

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool is_open() const { return ends_[0] >= 0; }
  int end(std::size_t which) const { return ends_[which]; }
  void close_end(std::size_t which) {
    if (ends_[which] >= 0) ::close(ends_[which]);
    ends_[which] = -1;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

// A file in memory, and not a pipe: if we are killed, the child reads the whole input. The end of a
// pipe would look like the end of the input, and rclone would store a part of the object.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes)
      : file_(::memfd_create("calpe-input", MFD_CLOEXEC)) {
    while (is_open() && !bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        close_file();
      } else {
        bytes = bytes.subspan(static_cast<std::size_t>(written));
      }
    }
    if (is_open() && ::lseek(file_, 0, SEEK_SET) != 0) close_file();
  }
  ~Input() {
    if (is_open()) close_file();
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  bool is_open() const { return file_ >= 0; }
  int file() const { return file_; }

 private:
  void close_file() {
    const int error = errno;  // kept for the message
    ::close(file_);
    errno = error;
    file_ = -1;
  }
  int file_;
};

struct Streams {
  explicit Streams(std::span<const std::byte> bytes) : input(bytes) {}
  Input input;
  Pipe output;
  Pipe errors;
};

int start(const std::vector<std::string>& arguments, const Streams& streams, pid_t& pid) {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, streams.input.file(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, streams.output.end(1), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, streams.errors.end(1), STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error = ::posix_spawn(&pid, words[0], &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Reads what is there. Returns false at the end.
template <class Take>
bool drain(int descriptor, const Take& take) {
  std::array<char, 65536> buffer;  // NOLINT: filled by read()
  const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got > 0) take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  return got > 0;
}

// Moves bytes until the child closes both outputs. Returns false if there are too many.
bool transfer(Streams& streams, std::size_t output_bytes_max, ChildResult& result) {
  bool is_small = true;
  while (streams.output.end(0) >= 0 || streams.errors.end(0) >= 0) {
    std::array<pollfd, 2> polled = {
        {{streams.output.end(0), POLLIN, 0}, {streams.errors.end(0), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return false;
    if (polled[0].revents != 0) {
      const auto take = [&](std::string_view words) {
        const auto bytes = std::as_bytes(std::span(words));
        is_small = is_small && bytes.size() <= output_bytes_max - result.output.size();
        if (is_small) result.output.insert(result.output.end(), bytes.begin(), bytes.end());
      };
      if (!drain(streams.output.end(0), take)) streams.output.close_end(0);
    }
    if (polled[1].revents != 0) {
      const auto take = [&](std::string_view words) {
        result.errors += words;
        if (result.errors.size() > errors_max)
          result.errors.erase(0, result.errors.size() - errors_max);
      };
      if (!drain(streams.errors.end(0), take)) streams.errors.close_end(0);
    }
  }
  return is_small;
}

}  // namespace

Result<ChildResult> run_child(const std::vector<std::string>& arguments,
                              std::span<const std::byte> input, std::size_t output_bytes_max) {
  Streams streams(input);
  if (!streams.input.is_open())
    return make_error(ErrorCode::io, "cannot keep the input in memory: ", std::strerror(errno));
  if (!streams.output.is_open() || !streams.errors.is_open())
    return make_error(ErrorCode::io, "cannot create a pipe: ", std::strerror(errno));
  pid_t pid = -1;
  if (const int error = start(arguments, streams, pid); error != 0)
    return make_error(ErrorCode::io, "cannot run ", arguments[0], ": ", std::strerror(error));
  streams.output.close_end(1);
  streams.errors.close_end(1);
  ChildResult result;
  const bool is_small = transfer(streams, output_bytes_max, result);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return make_error(ErrorCode::io, arguments[0], ": its end was not seen");
  }
  if (!is_small) return make_error(ErrorCode::io, arguments[0], " wrote too much");
  if (!WIFEXITED(status))
    return make_error(ErrorCode::io, arguments[0], " was killed by signal ", WTERMSIG(status));
  result.exit_code = WEXITSTATUS(status);
  return result;
}

}  // namespace calpe::remote
