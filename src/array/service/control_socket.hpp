// SPDX-License-Identifier: Apache-2.0
// The control socket of a server, next to NBD's: a line is a request, a line is the answer. nbdkit
// itself has no way in for those who look after an array.
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
  using Answer = std::function<std::string(std::string_view line)>;  // without an end of line

  // Listens, for the owner alone; clients wait until start(). The socket that a killed server of
  // this user left at `path` is replaced. Fails with io, and with invalid_argument when a server
  // listens there, the path is that of another file or a link, or other users could put their own
  // socket in its place: its folder must be ours or root's, and if others may write to it, sticky.
  static Result<std::unique_ptr<ControlSocket>> open(const std::string& path);
  ~ControlSocket();  // stop(); removes the socket, if it is still ours
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // On a thread of its own. A client that asks nothing for `idle_max` is cut off; so is the one
  // that asked nothing for longest when more want in than are served at a time.
  void start(Answer answer, std::chrono::milliseconds idle_max = std::chrono::minutes(1));
  void stop();  // no answer is given any more

 private:
  using Clock = std::chrono::steady_clock;
  struct Client {
    int descriptor = -1;
    std::string received;
    Clock::time_point asked_at;  // or connected
  };
  struct Place {
    std::string path;
    unsigned long device = 0;  // of the socket that is ours
    unsigned long inode = 0;
  };

  ControlSocket(Place place, int listening) : place_(std::move(place)), listening_(listening) {}
  void serve();
  bool serve_client(Client& client);  // false: it is gone, or sends what is no line
  void accept_one();
  void drop(Client& client);
  void drop_idle(Clock::time_point now);
  void drop_most_idle();
  int wait_milliseconds(Clock::time_point now) const;

  Place place_;
  int listening_;
  std::chrono::milliseconds idle_max_ = {};
  Clock::time_point accepts_at_ = {};  // not before: there were no descriptors left
  int stop_ = -1;                      // readable when serve() is to end
  Answer answer_;
  std::vector<Client> clients_;
  std::thread thread_;
};

}  // namespace calpe::array
