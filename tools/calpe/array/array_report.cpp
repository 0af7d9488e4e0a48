// SPDX-License-Identifier: Apache-2.0
#include "calpe/array/array_report.hpp"

#include <fmt/format.h>
#include <iterator>

#include "array/service/service.hpp"
#include "base/printable.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress_bar.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;

std::string name_of(const Json& status) {
  return fmt::format("{}+{}, {} for data, chunks of {} KiB", status["data"].get<unsigned>(),
                     status["parity"].get<unsigned>(),
                     bytes_text(status["bytes"].get<std::uint64_t>()),
                     status["chunk_bytes"].get<std::uint64_t>() / 1024);
}

std::uint64_t number(const Json& object, const char* key) {
  return object[key].get<std::uint64_t>();
}

std::string part_text(const Json& work) {
  const std::uint64_t all = std::max<std::uint64_t>(number(work, "all"), 1);
  return fmt::format("{} %, {} of {}", number(work, "done") * 100 / all,
                     bytes_text(number(work, "done")), bytes_text(number(work, "all")));
}

std::string path_of(const Json& member) {
  return printable(member["path"].get<std::string>());
}

std::size_t count_state(const Json& status, const std::string& state) {
  std::size_t count = 0;
  for (const Json& member : status["members"]) {
    if (member["state"] == state) ++count;
  }
  return count;
}

// True if the status comes from an open array, not from superblocks alone.
bool is_open(const Json& status) {
  return !status.contains("clean");
}

std::uint64_t lost_blocks(const Json& status) {
  return status.contains("lost_blocks") ? number(status["lost_blocks"], "count") : 0;
}

// Paths that are not used, and members that were not listed.
std::string notes_text(const Json& status) {
  std::string out;
  for (const Json& unused : status["unused"]) {
    out += fmt::format("note: {} is not a member of this array: {}\n", path_of(unused),
                       printable(unused["why"].get<std::string>()));
  }
  for (const Json& member : status["members"]) {
    if (!member.contains("found_at")) continue;
    const std::string path = printable(member["found_at"].get<std::string>());
    out += path.empty()
               ? fmt::format("note: member {} was not listed; add its path to the command\n",
                             number(member, "member"))
               : fmt::format(
                     "note: member {} was not listed; it is {}: add this path to the "
                     "command\n",
                     number(member, "member"), path);
  }
  return out;
}

// "rebuild of member 3", or "copy of member 3 to /dev/sdx".
std::string work_name(const Json& status, const Json& work) {
  const std::uint64_t role = number(work, "member");
  if (!work.value("is_copy", false)) return fmt::format("rebuild of member {}", role);
  return fmt::format("copy of member {} to {}", role,
                     printable(status["members"][role].value("replaced_by", "")));
}

}  // namespace

std::string lost_blocks_text(const Json& status) {
  const std::uint64_t lost = lost_blocks(status);
  return lost == 0 ? "" : array::lost_text(lost, number(status["lost_blocks"], "first"));
}

std::string array_table(const Json& status) {
  std::string out = fmt::format("array {}\n{}: {}\n", status["uuid"].get<std::string>(),
                                name_of(status), status["state"].get<std::string>());
  out += "member  state       corrupt  errors  path\n";
  for (const Json& member : status["members"]) {
    out += fmt::format("{:>6}  {:<10}  {:>7}  {:>6}  {}\n", number(member, "member"),
                       member["state"].get<std::string>(), number(member, "corrupt_blocks"),
                       number(member, "read_errors"), path_of(member));
  }
  for (const Json& spare : status["spares"])
    out += fmt::format("{:>6}  {:<10}  {:>7}  {:>6}  {}\n", "-", "spare", "", "", path_of(spare));
  if (!is_open(status)) {
    if (const Json& work = status["rebuild"]; !work.is_null()) {
      out += fmt::format("{}: {}\n", work_name(status, work), part_text(work));
    }
    if (!status["clean"].get<bool>())
      out += "not closed cleanly: the log is replayed when the array is opened\n";
    return out + notes_text(status);
  }
  if (const Json& work = status["rebuild"]; !work.is_null()) {
    out += fmt::format("{}: {}, {}/s{}\n", work_name(status, work), part_text(work),
                       bytes_text(number(work, "rate")),
                       status["paused"].get<bool>() ? ", paused" : "");
  }
  if (const Json& work = status["scrub"]; work["running"].get<bool>()) {
    out += fmt::format("scrub: {}, {} found{}\n", part_text(work),
                       count_text(number(work, "found"), "wrong block"),
                       status["paused"].get<bool>() ? ", paused" : "");
  }
  if (const std::string lost = lost_blocks_text(status); !lost.empty())
    out += fmt::format("WARNING: {}\n", lost);
  return out + notes_text(status);
}

std::string array_explanation(const Json& status) {
  const auto parity = status["parity"].get<unsigned>();
  const std::size_t out_count = count_state(status, "out");
  const std::size_t rebuilding = count_state(status, "rebuilding");
  const std::size_t may_fail = parity - std::min<std::size_t>(parity, out_count + rebuilding);
  std::string out = fmt::format("{} ({}).\n", status["state"].get<std::string>(), name_of(status));
  for (const Json& member : status["members"]) {
    if (member["state"] == "live") continue;
    const std::string path = path_of(member);
    out += fmt::format("Member {}{} is {}", number(member, "member"),
                       path.empty() ? "" : fmt::format(" ({})", path),
                       member["state"].get<std::string>());
    const std::string why = printable(member["why"].get<std::string>());
    out += why.empty() ? ".\n" : fmt::format(": {}.\n", why);
  }
  if (status["state"] == "failed") {
    return out +
           fmt::format("The array cannot be used: {}.\n",
                       printable(status["why"].get<std::string>())) +
           notes_text(status);
  }
  if (const std::string lost = lost_blocks_text(status); !lost.empty())
    out += fmt::format("WARNING: {}. calpe array scrub finds all of them.\n", lost);
  if (may_fail == 0) {
    out += "No further member may fail.\n";
  } else {
    out += fmt::format("Any {} may still fail without {}data loss.\n",
                       count_text(may_fail, "member"), lost_blocks(status) != 0 ? "further " : "");
  }
  for (const Json& member : status["members"]) {
    if (number(member, "corrupt_blocks") + number(member, "read_errors") == 0) continue;
    const std::uint64_t repaired = number(member, "repaired_blocks");
    out += fmt::format(
        "Member {} returned {} and {} so far; {} repaired from the other members. Its disk may be "
        "failing.\n",
        number(member, "member"), count_text(number(member, "corrupt_blocks"), "corrupt block"),
        count_text(number(member, "read_errors"), "read error"),
        count_text(repaired, "block") + (repaired == 1 ? " was" : " were"));
  }
  if (const Json& work = status["rebuild"]; !work.is_null() && work.value("is_copy", false)) {
    out +=
        fmt::format("Member {} is being replaced by {}: {}. It serves until that is complete.\n",
                    number(work, "member"),
                    printable(status["members"][number(work, "member")].value("replaced_by", "")),
                    part_text(work));
  } else if (!work.is_null()) {
    out += fmt::format(
        "Member {} is being rebuilt: {}. It counts as out until the rebuild is complete.\n",
        number(work, "member"), part_text(work));
  }
  if (!is_open(status) && !status["clean"].get<bool>())
    out += "It was not closed cleanly: the log is replayed when the array is opened.\n";
  const std::size_t spares = status["spares"].size();
  if (out_count != 0) {
    out += spares != 0 ? "A spare replaces it, unless nbdkit was started with take-spares=no.\n"
                       : "Next: calpe array replace --member N --with FILE, or add a spare with "
                         "calpe array add --spare FILE.\n";
  } else if (spares == 0) {
    out += "There is no spare: a failed member stays out until you replace it.\n";
  }
  return out + notes_text(status);
}

int array_exit_code(const Json& status) {
  if (status["state"] == "failed" || lost_blocks(status) != 0) return exit_lost;
  return status["state"] == "healthy" ? exit_ok : exit_not_ok;
}

}  // namespace calpe::tools
