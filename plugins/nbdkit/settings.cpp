// SPDX-License-Identifier: Apache-2.0
#include "nbdkit/settings.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <unistd.h>

#include "base/text.hpp"
#include "base/try.hpp"
#include "nbdkit/nbdkit_interface.hpp"

namespace calpe::nbd {

namespace {

Result<std::string> absolute(std::string_view key, const std::string& path) {
  if (path.empty()) return invalid(key, " is empty; expected a path");
  const std::unique_ptr<char, void (*)(void*)> whole(nbdkit_absolute_path(path.c_str()), std::free);
  if (!whole) return invalid(key, " is ", path, "; expected a path that can be made absolute");
  return std::string(whole.get());
}

Status add_member(Settings& settings, std::string_view key, const std::string& path) {
  CALPE_TRY(std::string whole, absolute(key, path));
  settings.members.push_back(std::move(whole));
  return Done{};
}

Result<std::uint64_t> rate(std::string_view key, const char* value) {
  const std::int64_t bytes = nbdkit_parse_size(value);
  if (bytes < 0) {
    return invalid(key, " is ", value,
                   "; expected bytes per second such as 50M, or 0 for no limit");
  }
  return static_cast<std::uint64_t>(bytes);
}

Result<std::uint32_t> milliseconds(std::string_view key, const char* value) {
  char* end = nullptr;
  const double seconds = std::strtod(value, &end);
  if (end == value || *end != 0 || !(seconds >= 0.01 && seconds <= 10))
    return invalid(key, " is ", value, "; expected seconds from 0.01 to 10");
  return static_cast<std::uint32_t>(seconds * 1000);
}

Result<std::uint32_t> timeout(std::string_view key, const char* value) {
  char* end = nullptr;
  const double seconds = std::strtod(value, &end);
  const bool is_in_range = seconds == 0 || (seconds >= 0.1 && seconds <= 3600);
  if (end == value || *end != 0 || !is_in_range)
    return invalid(key, " is ", value, "; expected seconds from 0.1 to 3600, or 0 for no limit");
  return static_cast<std::uint32_t>(seconds * 1000);
}

// "30d", "12h"; at most about a hundred years.
Result<std::uint32_t> duration(std::string_view key, const char* value) {
  char* end = nullptr;
  const unsigned long long count = std::strtoull(value, &end, 10);
  const std::string_view unit = end;
  std::uint64_t seconds = 0;
  if (unit == "d") seconds = 24 * 3600;
  if (unit == "h") seconds = 3600;
  if (unit == "m") seconds = 60;
  if (unit == "s" || (unit.empty() && count == 0)) seconds = 1;
  const bool is_number = end != value && *value >= '0' && *value <= '9';
  if (!is_number || seconds == 0 || count > 36500 * std::uint64_t{24} * 3600 / seconds) {
    return invalid(key, " is ", value,
                   "; expected a time such as 30d, 12h, 45m or 90s, or 0 for never");
  }
  return static_cast<std::uint32_t>(count * seconds);
}

Result<bool> yes_or_no(std::string_view key, const char* value) {
  const int is_yes = nbdkit_parse_bool(value);
  if (is_yes < 0) return invalid(key, " is ", value, "; expected yes or no");
  return is_yes == 1;
}

}  // namespace

Status set(Settings& settings, std::string_view key, const char* value) {
  if (key == "member") return add_member(settings, key, value);
  if (key == "members") {
    std::string_view rest = value;
    while (true) {
      const std::size_t comma = rest.find(',');
      CALPE_CHECK(add_member(settings, key, std::string(rest.substr(0, comma))));
      if (comma == std::string_view::npos) return Done{};
      rest.remove_prefix(comma + 1);
    }
  }
  if (key == "control") {
    if (!settings.control.empty())
      return invalid("control is given twice: ", settings.control, " and ", value);
    CALPE_TRY(settings.control, absolute(key, value));
    return Done{};
  }
  if (key == "rebuild-rate") {
    CALPE_TRY(settings.service.rebuild_rate, rate(key, value));
    return Done{};
  }
  if (key == "scrub-rate") {
    CALPE_TRY(settings.service.scrub_rate, rate(key, value));
    return Done{};
  }
  if (key == "scrub-every") {
    CALPE_TRY(settings.service.scrub_every_seconds, duration(key, value));
    return Done{};
  }
  if (key == "take-spares") {
    CALPE_TRY(settings.service.takes_spares, yes_or_no(key, value));
    return Done{};
  }
  if (key == "lease") {
    CALPE_TRY(settings.service.lease_milliseconds, milliseconds(key, value));
    return Done{};
  }
  if (key == "hook") {
    CALPE_TRY(settings.service.hook, absolute(key, value));
    return Done{};
  }
  if (key == "member-timeout") {
    CALPE_TRY(settings.service.member_timeout_milliseconds, timeout(key, value));
    return Done{};
  }
  return invalid("unknown parameter ", key, "; expected member, members, control, rebuild-rate, ",
                 "scrub-rate, scrub-every, take-spares, lease, member-timeout or hook");
}

Status check(const Settings& settings) {
  if (settings.members.empty()) {
    return invalid(
        "no member given; list the members of one array: member=/disk1/m0 "
        "member=/disk2/m1 ..., or members=/disk1/m0,/disk2/m1,...");
  }
  const std::string& hook = settings.service.hook;
  if (!hook.empty() && ::access(hook.c_str(), X_OK) != 0)
    return invalid("hook: cannot run ", hook, ": ", std::strerror(errno));
  return Done{};
}

}  // namespace calpe::nbd
