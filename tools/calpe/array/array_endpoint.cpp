// SPDX-License-Identifier: Apache-2.0
#include "calpe/array/array_endpoint.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "array/members/member_scan.hpp"
#include "array/service/requests.hpp"
#include "array/service/service.hpp"
#include "array/service/status_json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

ErrorCode code_of(const std::string& name) {
  if (name == "usage") return ErrorCode::invalid_argument;
  return name == "lost" ? ErrorCode::unrecoverable : ErrorCode::io;
}

Result<Json> checked_answer(const std::string& line) {
  Json answer = Json::parse(line, nullptr, false);
  if (!answer.is_object())
    return make_error(ErrorCode::io, "the server answered \"", printable(line, 100),
                      "\"; expected a JSON object");
  // Nothing was changed and nothing is lost: the caller reports it.
  if (answer.contains("error") && answer.value("code", "") == "refused") return answer;
  if (answer.contains("error"))
    return make_error(code_of(answer.value("code", "")), answer.value("error", "no reason given"));
  return answer;
}

class Served final : public ArrayEndpoint {
 public:
  Served(std::string path, int socket) : path_(std::move(path)), socket_(socket) {}
  ~Served() override { ::close(socket_); }

  Result<Json> ask(const Json& request) override {
    std::string line = request.dump() + '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return gone();
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    while (received_.find('\n') == std::string::npos) {
      char bytes[4096];
      const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return gone();
      received_.append(bytes, static_cast<std::size_t>(got));
    }
    const std::size_t end = received_.find('\n');
    const std::string answer = received_.substr(0, end);
    received_.erase(0, end + 1);
    return checked_answer(answer);
  }
  Status close() override { return Done{}; }

 private:
  Error gone() const {
    return make_error(ErrorCode::io, "the server at ", path_,
                      " closed the connection without an answer");
  }

  std::string path_;
  int socket_;
  std::string received_;
};

class Opened final : public ArrayEndpoint {
 public:
  explicit Opened(std::unique_ptr<array::Service> service) : service_(std::move(service)) {}

  Result<Json> ask(const Json& request) override {
    return checked_answer(array::answer(*service_, request.dump()));
  }
  Status close() override { return service_->close(); }

 private:
  std::unique_ptr<array::Service> service_;
};

// Reads superblocks only: read permission is enough, and nothing is recovered.
class Looked final : public ArrayEndpoint {
 public:
  explicit Looked(std::unique_ptr<array::FileMembers> members) : members_(std::move(members)) {}

  Result<Json> ask(const Json& request) override {
    if (request.value("do", "") != "status")
      return invalid("the members are open for reading only; expected a status request");
    auto found = array::inspect(*members_);
    if (!found) return array::with_paths(std::move(found).error(), *members_);
    Json json = array::inspection_json(*members_, *found);
    add_unlisted(json, *found);
    return json;
  }
  Status close() override { return Done{}; }

 private:
  // For members that were not listed: "found_at" is a path next to the listed ones, or "".
  void add_unlisted(Json& json, const array::Inspection& found) const {
    std::vector<std::string> paths;
    for (unsigned place = 0; place < members_->count(); ++place)
      paths.push_back(members_->path(place));
    std::vector<array::ScannedMember> nearby;
    for (Json& member : json["members"]) {
      const array::MemberStatus& status = found.members[member["member"].get<unsigned>()];
      if (status.place < members_->count()) continue;
      if (nearby.empty()) nearby = array::scan_places(array::folders_of(paths));
      member["found_at"] = "";
      for (const array::ScannedMember& one : nearby) {
        const bool is_it =
            one.superblock.array == found.uuid && one.superblock.member == status.uuid;
        if (is_it) member["found_at"] = one.path;
      }
    }
  }

  std::unique_ptr<array::FileMembers> members_;
};

Result<std::unique_ptr<ArrayEndpoint>> connect(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return invalid("--control ", path, " has ", path.size(), " bytes; expected at most ",
                   sizeof(address.sun_path) - 1);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0 ||
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    if (socket >= 0) ::close(socket);
    return make_error(ErrorCode::io, "cannot reach the server at ", path, ": ",
                      std::strerror(error));
  }
  return std::unique_ptr<ArrayEndpoint>(std::make_unique<Served>(path, socket));
}

Status check_place(const ArrayPlace& place) {
  if (place.members.empty() && place.control.empty())
    return invalid(
        "no array given: list its members, or use --control SOCKET if nbdkit is serving it");
  if (!place.members.empty() && !place.control.empty())
    return invalid("members and --control are both given; the server knows its members");
  return Done{};
}

}  // namespace

Result<std::unique_ptr<ArrayEndpoint>> look_at_array(const ArrayPlace& place) {
  CALPE_CHECK(check_place(place));
  if (!place.control.empty()) return connect(place.control);
  CALPE_TRY(auto members, array::FileMembers::open(place.members, array::MemberAccess::read));
  return std::unique_ptr<ArrayEndpoint>(std::make_unique<Looked>(std::move(members)));
}

Result<std::unique_ptr<ArrayEndpoint>> reach_array(const ArrayPlace& place) {
  CALPE_CHECK(check_place(place));
  if (!place.control.empty()) return connect(place.control);
  CALPE_TRY(std::unique_ptr<array::Service> service,
            array::Service::open(place.members, {.is_paused = place.is_paused}));
  service->start([](const array::Event& event) {
    // The command itself reports the end of a scrub.
    if (event.name == "scrub-complete") return;
    fmt::print(stderr, "calpe array: note: {}\n", printable(event.message));
  });
  return std::unique_ptr<ArrayEndpoint>(std::make_unique<Opened>(std::move(service)));
}

}  // namespace calpe::tools
