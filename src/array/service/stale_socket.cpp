// SPDX-License-Identifier: Apache-2.0
#include "array/service/stale_socket.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

Result<sockaddr_un> socket_address(const std::string& key, const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return invalid(key, ": ", path, " has ", path.size(), " bytes; expected at most ",
                   sizeof(address.sun_path) - 1);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Status clear_stale_socket(const std::string& key, const std::string& path) {
  CALPE_TRY(const sockaddr_un address, socket_address(key, path));
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return Done{};
  if (!S_ISSOCK(status.st_mode)) return invalid(key, ": ", path, " exists and is not a socket");
  if (status.st_uid != ::geteuid()) {
    return invalid(key, ": ", path, " is a socket of user ", status.st_uid,
                   "; choose another path");
  }
  const int trial = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  // EAGAIN: a server listens, but its queue is full.
  const bool is_alive = trial >= 0 && (::connect(trial, reinterpret_cast<const sockaddr*>(&address),
                                                 sizeof address) == 0 ||
                                       errno == EAGAIN);
  if (trial >= 0) ::close(trial);
  if (is_alive) return invalid(key, ": another server listens on ", path);
  ::unlink(path.c_str());
  return Done{};
}

}  // namespace calpe::array
