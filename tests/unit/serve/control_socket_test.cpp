// SPDX-License-Identifier: Apache-2.0
// Lines in, lines out; whatever clients do to a socket.
#include "serve/control_socket.hpp"

#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/files.hpp"

namespace calpe::serve {
namespace {

using ::testing::HasSubstr;

class Client {
 public:
  explicit Client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    is_connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }
  bool is_connected() const { return is_connected_; }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // "" at the end.
  std::string line() {
    std::string out;
    char c = 0;
    while (::recv(socket_, &c, 1, 0) == 1 && c != '\n')
      out += c;
    return out;
  }

 private:
  int socket_;
  bool is_connected_ = false;
};

class ControlSocketTest : public ::testing::Test {
 protected:
  ControlSocketTest() : folder_(*TemporaryFolder::create()), path_(folder_.path() + "/ctl") {}
  std::unique_ptr<ControlSocket> start() const {
    auto control = ControlSocket::open(path_);
    EXPECT_TRUE(control) << control.error().message;
    (*control)->start([](std::string_view line) { return "<" + std::string(line) + ">"; });
    return *std::move(control);
  }

  TemporaryFolder folder_;
  std::string path_;
};

TEST_F(ControlSocketTest, EveryLineIsAnswered) {
  const auto control = start();
  Client first(path_);
  Client second(path_);
  second.send("half");
  first.send("a\nbb\nccc");
  EXPECT_EQ(first.line(), "<a>");
  EXPECT_EQ(first.line(), "<bb>");
  second.send(" a line\n");
  EXPECT_EQ(second.line(), "<half a line>");
  first.send("\n\n");
  EXPECT_EQ(first.line(), "<ccc>");
  EXPECT_EQ(first.line(), "<>");
}

TEST_F(ControlSocketTest, ItIsTheOwnersAlone) {
  const auto control = start();
  struct stat status = {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(ControlSocketTest, WhatHasNoEndIsCutOff) {
  const auto control = start();
  Client client(path_);
  const std::string much(70'000, 'x');
  client.send(much);
  EXPECT_EQ(client.line(), "");
  Client next(path_);
  next.send("still there\n");
  EXPECT_EQ(next.line(), "<still there>");
}

TEST_F(ControlSocketTest, MoreClientsThanItTakesWait) {
  const auto control = start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 40; ++i)
    clients.push_back(std::make_unique<Client>(path_));
  for (int i = 0; i < 32; ++i) {
    clients[static_cast<std::size_t>(i)]->send("x\n");
    EXPECT_EQ(clients[static_cast<std::size_t>(i)]->line(), "<x>");
  }
  clients.erase(clients.begin(), clients.begin() + 32);
  clients.back()->send("y\n");
  EXPECT_EQ(clients.back()->line(), "<y>");
}

TEST_F(ControlSocketTest, AStaleSocketIsReplacedALiveOneIsNot) {
  {
    const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    ASSERT_EQ(::bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(left);
  }
  auto control = start();
  const auto second = ControlSocket::open(path_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another server listens"));
  control.reset();
  EXPECT_FALSE(Client(path_).is_connected());
  std::ofstream(path_) << "a file";
  const auto third = ControlSocket::open(path_);
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().message, HasSubstr("no socket"));
}

TEST_F(ControlSocketTest, PathsThatCannotBeAreRefused) {
  const auto nowhere = ControlSocket::open(folder_.path() + "/no/ctl");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::io);
  const auto too_long = ControlSocket::open(folder_.path() + "/" + std::string(200, 'x'));
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().message, HasSubstr("expected at most 107"));
}

}  // namespace
}  // namespace calpe::serve
