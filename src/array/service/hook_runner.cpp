// SPDX-License-Identifier: Apache-2.0
#include "array/service/hook_runner.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/threads.hpp"

namespace calpe::array {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_looks_at_process(10);

// Attributes of the new process: its own group, no blocked or ignored signals, and no descriptors
// but the standard ones. nbdkit blocks and ignores some signals.
class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
#endif
  }
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawnattr_t attributes = {};
  posix_spawn_file_actions_t actions = {};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& one : texts)
    all.push_back(one.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment(const Event& event, const std::string& array) {
  std::vector<std::string> all;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    if (std::strncmp(*one, "CALPE_", 6) != 0) all.emplace_back(*one);
  }
  all.push_back("CALPE_EVENT=" + event.name);
  all.push_back("CALPE_MESSAGE=" + event.message);
  all.push_back(text("CALPE_LEVEL=", event.is_warning ? "warning" : "info"));
  all.push_back("CALPE_ARRAY=" + array);
  if (event.member) all.push_back(text("CALPE_MEMBER=", *event.member));
  return all;
}

}  // namespace

HookRunner::HookRunner(std::string program, std::string array, Complain complain,
                       const HookLimits& limits)
    : program_(std::move(program)),
      array_(std::move(array)),
      complain_(std::move(complain)),
      limits_(limits),
      thread_(start_thread("calpe-hook", [this] { work(); })) {}

HookRunner::~HookRunner() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    end_ = Clock::now() + limits_.stop;
    changed_.notify_all();
  }
  thread_.join();
}

void HookRunner::add(const Event& event) {
  {
    const std::lock_guard lock(mutex_);
    if (events_.size() < limits_.events) {
      events_.push_back(event);
      changed_.notify_all();
      return;
    }
  }
  complain_(text("hook: too many events wait for ", program_, "; dropped: ", event.message));
}

void HookRunner::work() {
  while (true) {
    Event event;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_ending_ || !events_.empty(); });
      if (events_.empty() || (is_ending_ && Clock::now() >= end_)) return;
      event = std::move(events_.front());
      events_.pop_front();
    }
    run(event);
  }
}

void HookRunner::run(const Event& event) {
  std::vector<std::string> arguments = {program_, event.name, event.message};
  std::vector<std::string> variables = environment(event, array_);
  const SpawnSettings settings;
  pid_t process = -1;
  const int error =
      ::posix_spawn(&process, program_.c_str(), &settings.actions, &settings.attributes,
                    pointers(arguments).data(), pointers(variables).data());
  if (error != 0) {
    complain_(text("hook: cannot run ", program_, ": ", std::strerror(error)));
    return;
  }
  wait_for_end(process, event);
}

void HookRunner::wait_for_end(int process, const Event& event) {
  const Clock::time_point late = Clock::now() + limits_.run;
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) break;
    if (ended < 0 && errno != EINTR) return;  // another part of the program has waited for it
    std::unique_lock lock(mutex_);
    if (Clock::now() >= late || (is_ending_ && Clock::now() >= end_)) {
      lock.unlock();
      ::kill(-process, SIGKILL);
      ::waitpid(process, &status, 0);
      complain_(text("hook: ", program_, " took too long for ", event.name, " and was killed"));
      return;
    }
    lock.unlock();
    std::this_thread::sleep_for(between_looks_at_process);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status)) {
    complain_(
        text("hook: ", program_, " failed for ", event.name, ": exit code ", WEXITSTATUS(status)));
  } else {
    complain_(text("hook: ", program_, " failed for ", event.name, ": signal ", WTERMSIG(status)));
  }
}

}  // namespace calpe::array
