// SPDX-License-Identifier: Apache-2.0
#include "array/format/lease.hpp"

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace calpe::array {

namespace {

constexpr std::size_t host_bytes_max = 47;

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Parses 36 characters with dashes, as printed by the kernel; zeros if malformed.
Uuid boot_id() {
  Uuid id = {};
  std::string digits;
  for (const char c : first_line("/proc/sys/kernel/random/boot_id")) {
    if (std::isxdigit(static_cast<unsigned char>(c)) != 0) digits += c;
  }
  if (digits.size() != 2 * id.size()) return id;
  for (std::size_t i = 0; i < id.size(); ++i) {
    id[i] = static_cast<std::byte>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

std::uint64_t pid_namespace() {
  struct stat status = {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

struct ProcessState {
  char state = 0;
  std::uint64_t started = 0;
};

// The second field, a name, may contain spaces and parentheses; count fields from the last ')'.
ProcessState state_of(const std::string& process) {
  const std::string line = first_line("/proc/" + process + "/stat");
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(line.substr(name_end + 1));
  ProcessState found;
  rest >> found.state;
  constexpr int fields_between = 18;
  std::string skipped;
  for (int i = 0; i < fields_between; ++i)
    rest >> skipped;
  rest >> found.started;
  return found;
}

bool has_one_thread(const std::string& process) {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/" + process + "/task", error);
  return !error && std::distance(begin(threads), end(threads)) == 1;
}

}  // namespace

LeaseHolder this_process(std::uint32_t renewal_milliseconds) {
  LeaseHolder holder;
  holder.renewal_milliseconds = renewal_milliseconds;
  holder.boot = boot_id();
  holder.pid_namespace = pid_namespace();
  holder.pid = static_cast<std::uint32_t>(::getpid());
  holder.started = state_of("self").started;
  char host[host_bytes_max + 1] = {};
  if (::gethostname(host, host_bytes_max) == 0) holder.host = host;
  return holder;
}

bool has_surely_ended(const LeaseHolder& holder) {
  const bool is_known = holder.boot != Uuid{} && holder.pid_namespace != 0 && holder.pid != 0;
  if (!is_known || holder.boot != boot_id() || holder.pid_namespace != pid_namespace()) {
    return false;
  }
  const std::string process = std::to_string(holder.pid);
  const ProcessState found = state_of(process);
  // It may also be invisible to us.
  if (found.state == 0) return ::kill(static_cast<pid_t>(holder.pid), 0) != 0 && errno == ESRCH;
  if (found.started != holder.started) return true;
  // A zombie has closed its files, unless some of its threads still run.
  return found.state == 'Z' && has_one_thread(process);
}

std::string described(const LeaseHolder& holder) {
  return text("process ", holder.pid, " on host ",
              holder.host.empty() ? "(unknown)" : printable(holder.host));
}

}  // namespace calpe::array
