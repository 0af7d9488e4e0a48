// SPDX-License-Identifier: Apache-2.0
#include "serve/control_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::serve {

namespace {

constexpr std::size_t line_bytes_max = std::size_t{64} << 10U;
constexpr std::size_t clients_max = 32;
constexpr int send_milliseconds_max = 2000;  // one that does not read holds up the others

std::string system_text(int error) {
  return std::strerror(error);
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return invalid("control is ", path, ", which has ", path.size(), " bytes, expected at most ",
                   sizeof(address.sun_path) - 1);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Away with the socket of a server that was killed; nothing else is touched.
Status clear_stale(const std::string& path, const sockaddr_un& address) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return Done{};
  if (!S_ISSOCK(status.st_mode))
    return invalid("control is ", path, ", which is there already and no socket");
  const int trial = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool is_alive = trial >= 0 && ::connect(trial, reinterpret_cast<const sockaddr*>(&address),
                                                sizeof address) == 0;
  if (trial >= 0) ::close(trial);
  if (is_alive) return invalid("control is ", path, ", on which another server listens");
  ::unlink(path.c_str());
  return Done{};
}

bool send_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      pollfd writable = {descriptor, POLLOUT, 0};
      if (::poll(&writable, 1, send_milliseconds_max) == 1) continue;
    }
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<ControlSocket>> ControlSocket::open(const std::string& path) {
  CALPE_TRY(const sockaddr_un address, address_of(path));
  CALPE_CHECK(clear_stale(path, address));
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const mode_t before = ::umask(0177);  // nobody else runs yet whose files this could change
  const bool is_listening =
      listening >= 0 &&
      ::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(listening, static_cast<int>(clients_max)) == 0;
  const int error = errno;
  ::umask(before);
  if (!is_listening) {
    if (listening >= 0) ::close(listening);
    return make_error(ErrorCode::io, "cannot listen on the control socket ", path, ": ",
                      system_text(error));
  }
  return std::unique_ptr<ControlSocket>(new ControlSocket(path, listening));
}

ControlSocket::~ControlSocket() {
  stop();
  ::close(listening_);
  ::unlink(path_.c_str());
}

void ControlSocket::start(Answer answer) {
  answer_ = std::move(answer);
  stop_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::thread([this] { serve(); });
}

void ControlSocket::stop() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
  thread_.join();
  ::close(stop_);
  for (const Client& client : clients_)
    ::close(client.descriptor);
  clients_.clear();
}

void ControlSocket::serve() {
  while (true) {
    std::vector<pollfd> polled = {{stop_, POLLIN, 0}};
    polled.push_back({clients_.size() < clients_max ? listening_ : -1, POLLIN, 0});
    for (const Client& client : clients_)
      polled.push_back({client.descriptor, POLLIN, 0});
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
    if (polled[0].revents != 0) return;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (polled[i + 2].revents != 0 && !serve_client(clients_[i])) {
        ::close(clients_[i].descriptor);
        clients_[i].descriptor = -1;
      }
    }
    std::erase_if(clients_, [](const Client& client) { return client.descriptor < 0; });
    if (polled[1].revents != 0) accept_one();
  }
}

void ControlSocket::accept_one() {
  const int descriptor = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor >= 0) clients_.push_back({descriptor, {}});
}

bool ControlSocket::serve_client(Client& client) {
  char bytes[4096];
  const ssize_t got = ::recv(client.descriptor, bytes, sizeof bytes, 0);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  client.received.append(bytes, static_cast<std::size_t>(got));
  std::size_t end = 0;
  while ((end = client.received.find('\n')) != std::string::npos) {
    std::string answered = answer_(std::string_view(client.received).substr(0, end));
    answered += '\n';
    client.received.erase(0, end + 1);
    if (!send_all(client.descriptor, answered)) return false;
  }
  return client.received.size() <= line_bytes_max;
}

}  // namespace calpe::serve
