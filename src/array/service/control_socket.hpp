// SPDX-License-Identifier: Apache-2.0
// The control socket of a server, next to the NBD socket: one line per request and per answer.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::array {

class ControlSocket {
 public:
  using Answer = std::function<std::string(std::string_view line)>;  // without the newline

  // Listens, with access for the owner only; clients wait until start(). Replaces a socket that a
  // killed server of this user left at `path`. Fails with io. Fails with invalid_argument if
  // another server listens there, `path` is a link or not a socket, or other users could replace
  // the socket: its directory must belong to us or root, and must be sticky if others may write to
  // it.
  static Result<std::unique_ptr<ControlSocket>> open(const std::string& path);
  ~ControlSocket();  // stops, and removes the socket if it is still ours
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // Starts a thread. Disconnects clients that are idle for `idle_max`, and the one that was idle
  // longest if there are too many.
  void start(Answer answer, std::chrono::milliseconds idle_max = std::chrono::minutes(1));
  void stop();  // no more answers after this

 private:
  using Clock = std::chrono::steady_clock;
  struct Client {
    int descriptor = -1;
    std::string received;
    Clock::time_point asked_at;  // last request, or the connection
  };
  struct Place {
    std::string path;
    unsigned long device = 0;  // of our socket
    unsigned long inode = 0;
  };

  ControlSocket(Place place, int listening) : place_(std::move(place)), listening_(listening) {}
  void serve();
  bool serve_client(Client& client);  // false: disconnected, or sent an invalid line
  void accept_one();
  void drop(Client& client);
  void drop_idle(Clock::time_point now);
  void drop_most_idle();
  int wait_milliseconds(Clock::time_point now) const;

  Place place_;
  int listening_;
  std::chrono::milliseconds idle_max_ = {};
  Clock::time_point accepts_at_ = {};  // next accept, after descriptors ran out
  int stop_ = -1;                      // readable when serve() must end
  Answer answer_;
  std::vector<Client> clients_;
  std::thread thread_;
};

}  // namespace calpe::array
