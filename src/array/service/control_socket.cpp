// SPDX-License-Identifier: Apache-2.0
#include "array/service/control_socket.hpp"

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

#include "array/service/stale_socket.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

constexpr std::size_t line_bytes_max = std::size_t{64} << 10U;
constexpr std::size_t clients_max = 32;
constexpr std::chrono::milliseconds between_accepts(100);  // when descriptors ran out
constexpr int send_milliseconds_max = 2000;  // a client that does not read delays the others

std::string system_text(int error) {
  return std::strerror(error);
}

// Other users must not be able to replace the socket with their own, which commands would trust.
Status check_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct stat status = {};
  if (::stat(folder.c_str(), &status) != 0) {
    return make_error(ErrorCode::io, "cannot listen on the control socket ", path, ": ",
                      system_text(errno));
  }
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return invalid("control: the directory of ", path, " belongs to user ", status.st_uid,
                   "; use a directory that belongs to you or root");
  }
  const bool is_shared = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (is_shared && (status.st_mode & S_ISVTX) == 0) {
    return invalid("control: other users may write to the directory of ", path,
                   "; use a directory that only you can write to");
  }
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
  CALPE_TRY(const sockaddr_un address, socket_address("control", path));
  CALPE_CHECK(check_folder(path));
  CALPE_CHECK(clear_stale_socket("control", path));
  const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const mode_t before = ::umask(0177);  // affects all threads, but no other runs yet
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
  struct stat made = {};
  ::lstat(path.c_str(), &made);
  return std::unique_ptr<ControlSocket>(
      new ControlSocket({path, made.st_dev, made.st_ino}, listening));
}

ControlSocket::~ControlSocket() {
  stop();
  ::close(listening_);
  struct stat status = {};
  const bool is_ours = ::lstat(place_.path.c_str(), &status) == 0 &&
                       status.st_dev == place_.device && status.st_ino == place_.inode;
  if (is_ours) ::unlink(place_.path.c_str());
}

void ControlSocket::start(Answer answer, std::chrono::milliseconds idle_max) {
  answer_ = std::move(answer);
  idle_max_ = idle_max;
  stop_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = start_thread("calpe-control", [this] { serve(); });
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

void ControlSocket::drop(Client& client) {
  ::close(client.descriptor);
  client.descriptor = -1;
}

void ControlSocket::drop_idle(Clock::time_point now) {
  for (Client& client : clients_) {
    if (now - client.asked_at >= idle_max_) drop(client);
  }
  std::erase_if(clients_, [](const Client& client) { return client.descriptor < 0; });
}

void ControlSocket::drop_most_idle() {
  const auto most =
      std::min_element(clients_.begin(), clients_.end(),
                       [](const Client& a, const Client& b) { return a.asked_at < b.asked_at; });
  if (most == clients_.end()) return;
  drop(*most);
  clients_.erase(most);
}

// Milliseconds until a client is idle for too long or the next may be accepted; -1 = no limit.
int ControlSocket::wait_milliseconds(Clock::time_point now) const {
  Clock::time_point next = Clock::time_point::max();
  for (const Client& client : clients_) {
    next = std::min(next, client.asked_at + idle_max_);
  }
  if (accepts_at_ > now) next = std::min(next, accepts_at_);
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now);
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void ControlSocket::serve() {
  while (true) {
    const Clock::time_point now = Clock::now();
    drop_idle(now);
    std::vector<pollfd> polled = {{stop_, POLLIN, 0}};
    polled.push_back({accepts_at_ > now ? -1 : listening_, POLLIN, 0});
    for (const Client& client : clients_)
      polled.push_back({client.descriptor, POLLIN, 0});
    const int ready = ::poll(polled.data(), polled.size(), wait_milliseconds(now));
    if (ready < 0 && errno != EINTR) return;
    if (ready <= 0) continue;
    if (polled[0].revents != 0) return;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (polled[i + 2].revents != 0 && !serve_client(clients_[i])) drop(clients_[i]);
    }
    std::erase_if(clients_, [](const Client& client) { return client.descriptor < 0; });
    if (polled[1].revents != 0) accept_one();
  }
}

void ControlSocket::accept_one() {
  if (clients_.size() == clients_max) drop_most_idle();
  const int descriptor = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor >= 0) {
    clients_.push_back({descriptor, {}, Clock::now()});
    return;
  }
  // The client stays in the queue, so poll() would return at once.
  const bool is_out_of_descriptors =
      errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
  if (!is_out_of_descriptors) return;
  accepts_at_ = Clock::now() + between_accepts;
  drop_most_idle();
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
    client.asked_at = Clock::now();
    client.received.erase(0, end + 1);
    if (!send_all(client.descriptor, answered)) return false;
  }
  if (client.received.size() <= line_bytes_max) return true;
  send_all(client.descriptor, text(R"({"error":"the request is longer than )", line_bytes_max,
                                   R"( bytes","code":"usage"})", "\n"));
  return false;
}

}  // namespace calpe::array
