// SPDX-License-Identifier: Apache-2.0
// The socket beside NBD's: a line is a request, a line is the answer. nbdkit has no way in for
// those who look after what it serves.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::serve {

class ControlSocket {
 public:
  using Answer = std::function<std::string(std::string_view line)>;  // without an end of line

  // Listens, for the owner alone; clients wait until start(). What a killed server left at `path`
  // is replaced. Fails with io, and with invalid_argument when somebody listens there or the path
  // is that of another file.
  static Result<std::unique_ptr<ControlSocket>> open(const std::string& path);
  ~ControlSocket();  // stop(); the socket is gone from the file system
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  void start(Answer answer);  // a thread of its own
  void stop();                // no answer is given any more

 private:
  struct Client {
    int descriptor = -1;
    std::string received;
  };

  ControlSocket(std::string path, int listening) : path_(std::move(path)), listening_(listening) {}
  void serve();
  bool serve_client(Client& client);  // false: it is gone, or sends what is no line
  void accept_one();

  std::string path_;
  int listening_;
  int stop_ = -1;  // readable when serve() is to end
  Answer answer_;
  std::vector<Client> clients_;
  std::thread thread_;
};

}  // namespace calpe::serve
