// SPDX-License-Identifier: Apache-2.0
#include "array/service/requests.hpp"

#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "array/service/status_json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::array {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t shown_bytes_max = 100;

std::string shown(const Json& json) {
  return printable(json.dump(-1, ' ', false, Json::error_handler_t::replace), shown_bytes_max);
}

// --- fields of a request ---

Result<unsigned> member_of(const Json& request) {
  if (!request.contains("member")) return invalid("member is missing; expected a number");
  const Json& member = request["member"];
  if (!member.is_number_unsigned() || member.get<std::uint64_t>() > 0xFFFF)
    return invalid("member is ", shown(member), "; expected a number that status lists");
  return member.get<unsigned>();
}

Result<std::string> path_of(const Json& request) {
  if (!request.contains("path") || !request["path"].is_string())
    return invalid("path is missing; expected a file or block device");
  auto path = request["path"].get<std::string>();
  if (!path.starts_with('/')) return invalid("path is ", path, "; expected an absolute path");
  return path;
}

Result<bool> force_of(const Json& request) {
  if (!request.contains("force")) return false;
  if (!request["force"].is_boolean())
    return invalid("force is ", shown(request["force"]), "; expected true or false");
  return request["force"].get<bool>();
}

Result<std::uint64_t> bytes_of(const Json& request) {
  if (!request.contains("bytes")) return std::uint64_t{0};
  if (!request["bytes"].is_number_unsigned())
    return invalid("bytes is ", shown(request["bytes"]), "; expected a number");
  return request["bytes"].get<std::uint64_t>();
}

Status take_rate(const Json& request, const char* key, std::uint64_t& rate) {
  if (!request.contains(key)) return Done{};
  if (!request[key].is_number_unsigned()) {
    return invalid(key, " is ", shown(request[key]),
                   "; expected bytes per second, or 0 for no limit");
  }
  rate = request[key].get<std::uint64_t>();
  return Done{};
}

// --- requests ---

Result<Json> done_json(const Status& done) {
  if (!done) return done.error();
  return Json{{"ok", true}};
}

// If the array still works, a refusal to lose data is not a loss.
Result<Json> fail(Service& service, const Json& request) {
  CALPE_TRY(const unsigned member, member_of(request));
  const Status done = service.fail(member);
  const bool is_refused = !done && done.error().code == ErrorCode::unrecoverable &&
                          service.array().status().failed.empty();
  if (is_refused) return Json{{"error", done.error().message}, {"code", "refused"}};
  return done_json(done);
}

Result<Json> replace(Service& service, const Json& request) {
  CALPE_TRY(const unsigned member, member_of(request));
  CALPE_TRY(const std::string path, path_of(request));
  CALPE_TRY(const bool is_forced, force_of(request));
  return done_json(service.replace(member, path, is_forced));
}

Result<Json> set_rates(Service& service, const Json& request) {
  ServiceOptions options = service.options();
  CALPE_CHECK(take_rate(request, "rebuild", options.rebuild_rate));
  CALPE_CHECK(take_rate(request, "scrub", options.scrub_rate));
  service.set_options(options);
  return done_json(Done{});
}

Result<Json> grow(Service& service, const Json& request) {
  CALPE_TRY(const std::uint64_t bytes, bytes_of(request));
  const std::uint64_t before = service.array().bytes();
  const bool is_dry_run = request.value("dry_run", Json(false)) == Json(true);
  CALPE_TRY(const std::uint64_t now, is_dry_run ? service.check_grow(bytes) : service.grow(bytes));
  return Json{{"ok", true}, {"bytes_before", before}, {"bytes", now}};
}

Result<Json> scrub(Service& service, const Json& request) {
  if (request.value("stop", Json(false)) == Json(true)) {
    service.stop_scrub();
    return done_json(Done{});
  }
  return done_json(service.begin_scrub());
}

Result<Json> answered(Service& service, std::string_view line) {
  // Requests are flat; deep nesting would only use up the stack.
  const auto is_flat = [](int depth, Json::parse_event_t, const Json&) { return depth <= 2; };
  const Json request = Json::parse(line, is_flat, false);
  if (!request.is_object() || !request.contains("do") || !request["do"].is_string()) {
    return invalid("the request is ", printable(line, shown_bytes_max),
                   "; expected a JSON object with \"do\"");
  }
  const auto what = request["do"].get<std::string>();
  if (what == "status") return status_json(service);
  if (what == "fail") return fail(service, request);
  if (what == "replace") return replace(service, request);
  if (what == "retry") {
    CALPE_TRY(const unsigned member, member_of(request));
    return done_json(service.retry(member));
  }
  if (what == "add") {
    CALPE_TRY(const std::string path, path_of(request));
    CALPE_TRY(const bool is_forced, force_of(request));
    return done_json(service.add_spare(path, is_forced));
  }
  if (what == "remove") {
    CALPE_TRY(const std::string path, path_of(request));
    return done_json(service.remove_spare(path));
  }
  if (what == "grow") return grow(service, request);
  if (what == "scrub") return scrub(service, request);
  if (what == "rate") return set_rates(service, request);
  if (what == "pause" || what == "resume") {
    service.set_paused(what == "pause");
    return done_json(Done{});
  }
  return invalid(
      "do is ", printable(what, shown_bytes_max),
      "; expected status, fail, replace, retry, add, remove, grow, scrub, rate, pause or resume");
}

const char* code_name(ErrorCode code) {
  if (code == ErrorCode::invalid_argument) return "usage";
  if (code == ErrorCode::unrecoverable || code == ErrorCode::corrupt) return "lost";
  return "io";
}

}  // namespace

std::string answer(Service& service, std::string_view line) noexcept {
  try {
    Result<Json> json = answered(service, line);
    if (!json) {
      json = Json{{"error", json.error().message}, {"code", code_name(json.error().code)}};
    }
    return json->dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const std::exception&) {
    return R"({"error":"out of memory","code":"io"})";  // short: needs no allocation
  }
}

}  // namespace calpe::array
