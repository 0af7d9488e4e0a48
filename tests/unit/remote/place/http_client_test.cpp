// SPDX-License-Identifier: Apache-2.0
#include "remote/place/http_client.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "base/text.hpp"
#include "support/failing_new.hpp"

namespace calpe::remote {
namespace {

namespace allocations = tests::allocations;

// Answers one request on loopback, without allocating memory.
class OneAnswer {
 public:
  explicit OneAnswer(std::string_view answer) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, generic, length), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    EXPECT_EQ(::getsockname(socket_, generic, &length), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer] {
      const int connection = ::accept(socket_, nullptr, nullptr);
      char request[4096];  // NOLINT: filled by recv()
      (void)::recv(connection, request, sizeof(request), 0);
      (void)::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::close(connection);
    });
  }
  ~OneAnswer() {
    ::shutdown(socket_, SHUT_RDWR);  // ends accept()
    thread_.join();
    ::close(socket_);
  }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;

  std::string url() const { return text("http://127.0.0.1:", port_, "/"); }

 private:
  int socket_;
  unsigned port_ = 0;
  std::thread thread_;
};

// Lets the first allocation of the transfer fail.
Result<HttpAnswer> send_without_memory(std::string_view answer) {
  const OneAnswer server(answer);
  auto client = make_http_client(60);
  if (!client) return client.error();
  const HttpRequest request = {.method = "GET", .url = server.url(), .headers = {}};
  allocations::fail_from(1, false);
  Result<HttpAnswer> got = (*client)->send(request);
  EXPECT_TRUE(allocations::stop_failing());
  return got;
}

TEST(HttpClient, ReturnsTheTextAndTheTime) {
  const OneAnswer server(
      "HTTP/1.1 404 Not Found\r\nDate: Thu, 01 Jan 1970 00:01:00 GMT\r\n"
      "Content-Length: 4\r\n\r\ngone");
  auto client = make_http_client(60);
  if (!client) GTEST_SKIP() << client.error().message;
  const auto got = (*client)->send({.method = "GET", .url = server.url(), .headers = {}});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->status, 404);
  EXPECT_EQ(got->text, "gone");
  EXPECT_EQ(got->server_seconds, 60);
}

// An exception would leave libcurl, which is C, in the middle of a transfer.
TEST(HttpClient, RunsOutOfMemoryWithAnError) {
  if (const auto client = make_http_client(60); !client) GTEST_SKIP() << client.error().message;
  for (const std::string_view answer :
       {"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n1234567890123456789012345678901234567890",
        "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:01:00 GMT\r\n"
        "Content-Length: 0\r\n\r\n"}) {
    Result<HttpAnswer> got = Error{ErrorCode::io, ""};
    ASSERT_NO_THROW(got = send_without_memory(answer));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().message, "out of memory");
  }
}

}  // namespace
}  // namespace calpe::remote
