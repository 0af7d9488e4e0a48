// SPDX-License-Identifier: Apache-2.0
// Another program, run beside ours: no shell, no threads, no signal handlers. Whoever started it
// polls it; nothing happens behind anybody's back.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <calpe/result.hpp>

namespace calpe {

// How a program ended.
struct ExitStatus {
  enum class Kind {
    exited,     // by itself, with `code`
    signalled,  // by signal `code`
    timed_out,  // killed by us
    unknown,    // somebody else has waited for it, or the process ignores SIGCHLD, or has forked
  };
  Kind kind = Kind::unknown;
  int code = 0;
  std::string output = {};  // standard output and error, as they came, at most so many bytes:
  static constexpr std::size_t output_bytes_max = 1 << 20;  // unless start() was told otherwise

  bool is_success() const noexcept { return kind == Kind::exited && code == 0; }
};

// "exited with 1", "killed by signal 11", "killed after its time limit", "exit status unknown"
std::string to_string(const ExitStatus& status);

// The first file called `name` that we may execute in the folders of PATH; a name with a slash is
// that file or nothing.
std::optional<std::string> find_program(std::string_view name);

// One at a time may call members; not thread-safe.
class Subprocess {
 public:
  // arguments[0] is the path of the program, which reads from nowhere, inherits no open file, and
  // the environment but for LC_ALL=C (we read its messages) and `variables` ("NAME=value"). It
  // leads a process group of its own, so that what it starts ends with it. Fails with io.
  static Result<Subprocess> start(const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds time_limit,
                                  std::vector<std::string> variables = {},
                                  std::size_t output_bytes_max = ExitStatus::output_bytes_max);

  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  // Kills it and waits for it if it still runs: leaves no zombie. In a copy of the process that
  // fork() made, it is another's child: it is then left alone, and has ended as `unknown`.
  ~Subprocess();

  // Never blocks. Nothing while it runs and its time is not over.
  std::optional<ExitStatus> poll();
  // Blocks until it ends or its time is over.
  ExitStatus wait();

  int pid() const noexcept { return pid_; }

 private:
  Subprocess(int pid, int output, std::size_t output_bytes_max,
             std::chrono::steady_clock::time_point deadline);
  bool is_ours() const noexcept;
  std::optional<ExitStatus> reap(int options);
  ExitStatus kill_it();
  ExitStatus ended(ExitStatus::Kind kind, int code);

  int pid_ = -1;     // -1: waited for, or moved from
  int parent_ = -1;  // the process that started it
  int output_ = -1;  // memory that it writes to: a pipe would need somebody to drain it
  std::size_t output_bytes_max_ = 0;
  std::chrono::steady_clock::time_point deadline_ = {};
  std::optional<ExitStatus> status_ = {};  // once it has ended
};

}  // namespace calpe
