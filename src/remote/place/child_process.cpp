// SPDX-License-Identifier: Apache-2.0
#include "remote/place/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/io/descriptor.hpp"

extern char** environ;

namespace calpe::remote {

namespace {

using store::again_if_interrupted;
using store::Descriptor;

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr off_t errors_max = 4096;

Error failed(std::string_view what) {
  return make_error(ErrorCode::io, "cannot ", what, ": ", std::strerror(errno));
}

// The ends of standard input, output and error of the child, and our end of its output. Input and
// errors are files in memory: unlike a pipe, neither ends when we are killed. The end of a pipe
// would look like the end of the input, and a write to a broken one kills the child.
struct Streams {
  Descriptor input;
  Descriptor output;
  Descriptor errors;
  Descriptor received;
};

Result<Descriptor> file_in_memory(const char* name, std::span<const std::byte> bytes) {
  Descriptor file(::memfd_create(name, MFD_CLOEXEC));
  if (!file) return failed("create a file in memory");
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t put = again_if_interrupted([&] {
      return ::pwrite(file.get(), bytes.data() + done, bytes.size() - done,
                      static_cast<off_t>(done));
    });
    if (put <= 0) return failed("write a file in memory");
    done += static_cast<std::size_t>(put);
  }
  return file;
}

Result<Streams> make_streams(std::span<const std::byte> input) {
  Streams streams;
  CALPE_TRY(streams.input, file_in_memory("calpe-input", input));
  CALPE_TRY(streams.errors, file_in_memory("calpe-errors", {}));
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed("create a pipe");
  streams.received = Descriptor(ends[0]);
  streams.output = Descriptor(ends[1]);
  return streams;
}

class Child {
 public:
  static Result<Child> start(const std::vector<std::string>& arguments, const Streams& streams) {
    std::vector<char*> words;
    words.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, streams.input.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, streams.output.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, streams.errors.get(), STDERR_FILENO);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes,
        static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, words[0], &actions, &attributes, words.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return Child(pid);
    return make_error(ErrorCode::io, "cannot run ", arguments[0], ": ", std::strerror(error));
  }

  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&&) = delete;
  // Kills it and its children, if it has not ended.
  ~Child() {
    if (pid_ <= 1) return;
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // under emulators it may have no group yet
    int status = 0;
    (void)again_if_interrupted([&] { return ::waitpid(pid_, &status, 0); });
  }

  // Returns the status of waitpid, or nothing if it still runs at the deadline.
  Result<std::optional<int>> wait_until(Clock::time_point deadline) {
    // waitpid has no time limit, so poll. Usually the child ends together with its output.
    for (milliseconds pause(1);; pause = std::min(2 * pause, milliseconds(100))) {
      int status = 0;
      const pid_t got = again_if_interrupted([&] { return ::waitpid(pid_, &status, WNOHANG); });
      if (got != 0) pid_ = -1;
      if (got < 0) return failed("see the end of a program");
      if (got > 0) return std::optional(status);
      if (Clock::now() >= deadline) return std::optional<int>();
      std::this_thread::sleep_for(pause);
    }
  }

 private:
  explicit Child(pid_t pid) : pid_(pid) {}

  pid_t pid_;
};

// Waits for output, or its end. Returns false after the time limit.
Result<bool> wait_for_output(int descriptor, milliseconds time_limit) {
  const auto deadline = Clock::now() + time_limit;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    pollfd polled = {.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&polled, 1, static_cast<int>(std::clamp<long long>(left, 0, 1000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return failed("wait for a program");
    if (Clock::now() >= deadline) return false;
  }
}

enum class Received { all, too_much, no_progress };

// Reads until the child closes its output.
Result<Received> receive(int descriptor, std::size_t bytes_max, milliseconds time_limit,
                         std::vector<std::byte>& output) {
  std::array<std::byte, 65536> buffer;  // NOLINT: filled by read()
  for (;;) {
    CALPE_TRY(const bool is_ready, wait_for_output(descriptor, time_limit));
    if (!is_ready) return Received::no_progress;
    const ssize_t got =
        again_if_interrupted([&] { return ::read(descriptor, buffer.data(), buffer.size()); });
    if (got < 0) return failed("read the output of a program");
    if (got == 0) return Received::all;
    if (static_cast<std::size_t>(got) > bytes_max - output.size()) return Received::too_much;
    output.insert(output.end(), buffer.begin(), buffer.begin() + got);
  }
}

std::string last_bytes(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  const off_t begin = std::max<off_t>(size - errors_max, 0);
  std::string bytes(static_cast<std::size_t>(std::max<off_t>(size - begin, 0)), '\0');
  const ssize_t got = ::pread(file, bytes.data(), bytes.size(), begin);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

}  // namespace

Result<ChildResult> run_child(const std::vector<std::string>& arguments,
                              std::span<const std::byte> input, std::size_t output_bytes_max,
                              milliseconds time_limit) {
  CALPE_TRY(Streams streams, make_streams(input));
  CALPE_TRY(Child child, Child::start(arguments, streams));
  streams.output = Descriptor();  // the child has the only writing end
  ChildResult result;
  CALPE_TRY(const Received received,
            receive(streams.received.get(), output_bytes_max, time_limit, result.output));
  if (received == Received::too_much)
    return make_error(ErrorCode::io, arguments[0], " wrote too much");
  std::optional<int> status;
  if (received == Received::all) {
    CALPE_TRY(status, child.wait_until(Clock::now() + time_limit));
  }
  if (!status) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time_limit).count();
    return make_error(ErrorCode::io, arguments[0], " was killed after ", seconds,
                      " s without progress");
  }
  if (!WIFEXITED(*status))
    return make_error(ErrorCode::io, arguments[0], " was killed by signal ", WTERMSIG(*status));
  result.exit_code = WEXITSTATUS(*status);
  result.errors = last_bytes(streams.errors.get());
  return result;
}

}  // namespace calpe::remote
