// SPDX-License-Identifier: Apache-2.0
#include "remote/set/process_identity.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sys/types.h>
#include <unistd.h>

#include "base/text.hpp"

namespace calpe::remote {

namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct ProcessState {
  bool is_zombie = false;
  std::uint64_t started = 0;
};

// From /proc/N/stat: "N (name) S ppid ...". The name may contain anything, so count from its end.
std::optional<ProcessState> state_of(std::uint64_t process) {
  const std::string stat = read_text(text("/proc/", process, "/stat"));
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos || end + 2 >= stat.size()) return std::nullopt;
  std::string_view rest = std::string_view(stat).substr(end + 2);
  ProcessState state = {.is_zombie = rest.front() == 'Z' || rest.front() == 'X'};
  constexpr int fields_between = 19;  // from the state to the start
  for (int i = 0; i < fields_between; ++i) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    rest = rest.substr(space + 1);
  }
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), state.started);
  if (read.ec != std::errc()) return std::nullopt;
  return state;
}

// Empty if it is unknown; then nothing is certain.
std::string system_identity() {
  std::string boot = read_text("/proc/sys/kernel/random/boot_id");
  std::error_code error;
  const std::filesystem::path space = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  while (boot.ends_with('\n'))
    boot.pop_back();
  return boot.empty() || error ? std::string() : text(boot, " ", space.string());
}

}  // namespace

ChangeMark mark_of_this_process() {
  ChangeMark mark;
  std::array<char, 256> host = {};
  if (::gethostname(host.data(), host.size() - 1) == 0) mark.host = host.data();
  mark.process = static_cast<std::uint64_t>(::getpid());
  if (const auto state = state_of(mark.process)) mark.started = state->started;
  mark.system = system_identity();
  mark.seconds = static_cast<std::uint64_t>(std::time(nullptr));
  return mark;
}

bool has_ended(const ChangeMark& mark) {
  if (mark.system.empty() || mark.system != system_identity()) return false;
  if (mark.process == 0 || mark.process > std::numeric_limits<pid_t>::max()) return false;
  if (::kill(static_cast<pid_t>(mark.process), 0) != 0 && errno == ESRCH) return true;
  const auto state = state_of(mark.process);
  if (!state) return false;  // of another user, perhaps
  return state->is_zombie || (mark.started != 0 && state->started != mark.started);
}

}  // namespace calpe::remote
