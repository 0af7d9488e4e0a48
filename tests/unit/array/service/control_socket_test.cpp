// SPDX-License-Identifier: Apache-2.0
// Requests and answers on the control socket, and clients that misbehave.
#include "array/service/control_socket.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/files.hpp"

namespace calpe::array {
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
  // Returns "" at the end.
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
  std::unique_ptr<ControlSocket> start(
      std::chrono::milliseconds idle_max = std::chrono::minutes(1)) const {
    auto control = ControlSocket::open(path_);
    EXPECT_TRUE(control) << control.error().message;
    (*control)->start([](std::string_view line) { return "<" + std::string(line) + ">"; },
                      idle_max);
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

TEST_F(ControlSocketTest, OnlyTheOwnerHasAccess) {
  const auto control = start();
  struct stat status = {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(ControlSocketTest, ALineWithoutEndIsDisconnected) {
  const auto control = start();
  Client client(path_);
  const std::string much(70'000, 'x');
  client.send(much);
  EXPECT_THAT(client.line(), HasSubstr("longer than 65536 bytes"));
  EXPECT_EQ(client.line(), "");
  Client next(path_);
  next.send("still there\n");
  EXPECT_EQ(next.line(), "<still there>");
}

TEST_F(ControlSocketTest, DisconnectsTheMostIdleOfTooManyClients) {
  const auto control = start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 32; ++i)
    clients.push_back(std::make_unique<Client>(path_));
  for (const auto& client : clients) {
    client->send("x\n");
    EXPECT_EQ(client->line(), "<x>");
  }
  clients[0]->send("again\n");
  EXPECT_EQ(clients[0]->line(), "<again>");
  Client one_more(path_);
  one_more.send("y\n");
  EXPECT_EQ(one_more.line(), "<y>");
  EXPECT_EQ(clients[1]->line(), "");
  clients[0]->send("z\n");
  EXPECT_EQ(clients[0]->line(), "<z>");
}

TEST_F(ControlSocketTest, DisconnectsAnIdleClient) {
  const auto control = start(std::chrono::milliseconds(50));
  Client silent(path_);
  Client half(path_);
  half.send("no end of line");
  EXPECT_EQ(silent.line(), "");
  EXPECT_EQ(half.line(), "");
}

TEST_F(ControlSocketTest, RefusesADirectoryThatOthersMayWriteTo) {
  namespace fs = std::filesystem;
  fs::permissions(folder_.path(), fs::perms::all);
  const auto shared = ControlSocket::open(path_);
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(shared.error().message, HasSubstr("other users may write to the directory"));
  fs::permissions(folder_.path(), fs::perms::all | fs::perms::sticky_bit);
  EXPECT_TRUE(ControlSocket::open(path_));
  fs::permissions(folder_.path(), fs::perms::owner_all);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(folder_.path().c_str(), 12345, 0), 0);
  const auto foreign = ControlSocket::open(path_);
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message, HasSubstr("belongs to user 12345"));
}

TEST_F(ControlSocketTest, ALinkIsNotFollowedAndAnothersSocketStays) {
  const std::string elsewhere = folder_.path() + "/elsewhere";
  std::filesystem::create_symlink(elsewhere, path_);
  const auto linked = ControlSocket::open(path_);
  ASSERT_FALSE(linked);
  EXPECT_THAT(linked.error().message, HasSubstr("is not a socket"));
  EXPECT_FALSE(std::filesystem::exists(elsewhere));
  std::filesystem::remove(path_);
  auto control = start();
  std::filesystem::remove(path_);
  std::ofstream(path_) << "a file that took its place";
  control.reset();
  EXPECT_TRUE(std::filesystem::exists(path_));
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
  EXPECT_THAT(third.error().message, HasSubstr("is not a socket"));
}

TEST_F(ControlSocketTest, RefusesInvalidPaths) {
  const auto nowhere = ControlSocket::open(folder_.path() + "/no/ctl");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::io);
  const auto too_long = ControlSocket::open(folder_.path() + "/" + std::string(200, 'x'));
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().message, HasSubstr("expected at most 107"));
}

}  // namespace
}  // namespace calpe::array
