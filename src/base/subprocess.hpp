// SPDX-License-Identifier: Apache-2.0
// Runs another program, without a shell, threads or signal handlers. The caller polls it.
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
    signalled,  // killed by signal `code`
    timed_out,  // killed by us
    unknown,    // reaped elsewhere, SIGCHLD ignored, or the process forked
  };
  Kind kind = Kind::unknown;
  int code = 0;
  // Standard output and error together, at most this many bytes unless start() sets another limit.
  std::string output = {};
  static constexpr std::size_t output_bytes_max = 1 << 20;

  bool is_success() const noexcept { return kind == Kind::exited && code == 0; }
};

// "exited with 1", "killed by signal 11", "killed after its time limit", "exit status unknown"
std::string to_string(const ExitStatus& status);

// Finds the first executable file called `name` in the directories of PATH. A name with a slash is
// that file or nothing.
std::optional<std::string> find_program(std::string_view name);

// Not thread-safe.
class Subprocess {
 public:
  // arguments[0] is the path of the program. It has no input and inherits no open files. It
  // inherits the environment, plus LC_ALL=C (we read its messages) and `variables` ("NAME=value").
  // It leads its own process group, so its children end with it. Fails with io.
  static Result<Subprocess> start(const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds time_limit,
                                  std::vector<std::string> variables = {},
                                  std::size_t output_bytes_max = ExitStatus::output_bytes_max);

  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  // Kills and reaps the program if it still runs. After fork(), the child process does not touch it
  // and sees it as `unknown`.
  ~Subprocess();

  // Never blocks. Returns nullopt while the program runs within its time limit.
  std::optional<ExitStatus> poll();
  // Blocks until the program ends or its time limit expires.
  ExitStatus wait();

  int pid() const noexcept { return pid_; }

 private:
  Subprocess(int pid, int output, std::size_t output_bytes_max,
             std::chrono::steady_clock::time_point deadline);
  bool is_ours() const noexcept;
  std::optional<ExitStatus> reap(int options);
  ExitStatus kill_it();
  ExitStatus ended(ExitStatus::Kind kind, int code);

  int pid_ = -1;     // -1: reaped, or moved from
  int parent_ = -1;  // the process that started it
  int output_ = -1;  // memory file for its output: a pipe would have to be drained
  std::size_t output_bytes_max_ = 0;
  std::chrono::steady_clock::time_point deadline_ = {};
  std::optional<ExitStatus> status_ = {};  // set when it has ended
};

}  // namespace calpe
