// SPDX-License-Identifier: Apache-2.0
#include "calpe/array/array_metrics.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;
using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr std::array array_states = {"healthy", "degraded", "rebuilding", "damaged", "failed"};
constexpr std::array member_states = {"live", "out", "rebuilding"};

std::uint64_t number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_number() ? 0 : found->get<std::uint64_t>();
}

std::string escaped(const std::string& value) {
  std::string out;
  for (const char letter : value) {
    if (letter == '\n') {
      out += "\\n";
      continue;
    }
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return out;
}

// Collects metrics; all carry the label "array".
class Page {
 public:
  explicit Page(std::string array) : array_(std::move(array)) {}

  void describe(const char* name, const char* type, const char* help) {
    name_ = fmt::format("calpe_array_{}", name);
    out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name_, help, name_, type);
  }
  void add(std::uint64_t value, const Labels& labels = {}) {
    std::string all = fmt::format("array=\"{}\"", array_);
    for (const auto& [key, text] : labels)
      all += fmt::format(",{}=\"{}\"", key, escaped(text));
    out_ += fmt::format("{}{{{}}} {}\n", name_, all, value);
  }
  void one(const char* name, const char* type, const char* help, std::uint64_t value) {
    describe(name, type, help);
    add(value);
  }
  std::string text() && { return std::move(out_); }

 private:
  std::string array_;
  std::string name_;
  std::string out_;
};

std::string member_name(const Json& member) {
  return std::to_string(number(member, "member"));
}

void add_members(Page& page, const Json& status) {
  page.describe("member_state", "gauge", "1 for the state that the member has.");
  for (const Json& member : status["members"]) {
    for (const char* const state : member_states) {
      page.add(member["state"] == state ? 1 : 0, {{"member", member_name(member)},
                                                  {"path", member["path"].get<std::string>()},
                                                  {"state", state}});
    }
  }
  page.describe("member_hung", "gauge", "1 if the member does not answer.");
  for (const Json& member : status["members"])
    page.add(member.value("hung", false) ? 1 : 0, {{"member", member_name(member)}});
  page.describe("member_errors_total", "counter", "Errors of the disk of the member.");
  for (const Json& member : status["members"]) {
    page.add(number(member, "read_errors"), {{"member", member_name(member)}, {"kind", "read"}});
    page.add(number(member, "write_errors"), {{"member", member_name(member)}, {"kind", "write"}});
    page.add(number(member, "corrupt_blocks"),
             {{"member", member_name(member)}, {"kind", "corrupt"}});
  }
  page.describe("member_repaired_blocks_total", "counter",
                "Blocks that were repaired on the disk of the member.");
  for (const Json& member : status["members"])
    page.add(number(member, "repaired_blocks"), {{"member", member_name(member)}});
}

void add_rebuild(Page& page, const Json& status) {
  const Json none = Json::object();
  const Json& work = status["rebuild"].is_object() ? status["rebuild"] : none;
  page.one("rebuild_running", "gauge", "1 while a member is being rebuilt.", work.empty() ? 0 : 1);
  page.one("rebuild_done_bytes", "gauge", "Bytes of the member that are rebuilt.",
           number(work, "done"));
  page.one("rebuild_size_bytes", "gauge", "Bytes of the member to rebuild.", number(work, "all"));
  page.one("rebuild_bytes_per_second", "gauge", "Rate of the rebuild.", number(work, "rate"));
}

void add_scrub(Page& page, const Json& scrub) {
  page.one("scrub_running", "gauge", "1 while a scrub runs.",
           scrub.value("running", false) ? 1 : 0);
  page.one("scrub_done_bytes", "gauge", "Bytes verified by the running or last scrub.",
           number(scrub, "done"));
  page.one("scrub_size_bytes", "gauge", "Bytes to verify.", number(scrub, "all"));
  page.one("scrub_wrong_blocks", "gauge", "Wrong blocks found by the running or last scrub.",
           number(scrub, "found"));
  page.one("scrub_repaired_blocks", "gauge", "Blocks repaired by the running or last scrub.",
           number(scrub, "repaired"));
  page.one("scrub_interval_seconds", "gauge", "Time between scheduled scrubs; 0 if none.",
           number(scrub, "every"));
}

void add_scrub_history(Page& page, const Json& scrubs) {
  page.one("scrubs_total", "counter", "Complete scrubs.", number(scrubs, "ended"));
  const std::uint64_t end = number(scrubs, "last_end");
  page.one("scrub_last_end_timestamp_seconds", "gauge",
           "Unix time of the last complete scrub; 0 if none.", end);
  if (end == 0) return;
  const auto now = static_cast<std::uint64_t>(std::time(nullptr));
  page.one("scrub_age_seconds", "gauge", "Time since the last complete scrub.",
           now > end ? now - end : 0);
  page.one("scrub_last_seconds", "gauge",
           "Duration of the last complete scrub, with interruptions.",
           end - std::min(end, number(scrubs, "last_begun")));
  page.one("scrub_last_wrong_blocks", "gauge", "Wrong blocks found by the last complete scrub.",
           number(scrubs, "last_found"));
  page.one("scrub_last_repaired_blocks", "gauge", "Blocks repaired by the last complete scrub.",
           number(scrubs, "last_repaired"));
  page.one("scrub_last_lost_columns", "gauge",
           "Columns that the last complete scrub could not repair.", number(scrubs, "last_lost"));
}

void add_log(Page& page, const Json& log) {
  page.one("log_used_bytes", "gauge", "Bytes used in the fullest log.", number(log, "used"));
  page.one("log_size_bytes", "gauge", "Bytes of the log on each member.", number(log, "bytes"));
  page.one("commits_total", "counter", "Commits since the server started.", number(log, "commits"));
  page.one("checkpoints_total", "counter", "Checkpoints since the server started.",
           number(log, "checkpoints"));
}

}  // namespace

std::string array_metrics(const Json& status) {
  Page page(status["uuid"].get<std::string>());
  page.describe("info", "gauge", "Always 1; the labels describe the array.");
  page.add(1, {{"data", std::to_string(number(status, "data"))},
               {"parity", std::to_string(number(status, "parity"))}});
  page.describe("state", "gauge", "1 for the state that the array has.");
  for (const char* const state : array_states)
    page.add(status["state"] == state ? 1 : 0, {{"state", state}});
  page.one("size_bytes", "gauge", "Capacity.", number(status, "bytes"));
  page.one("members_may_fail", "gauge", "Members that may still fail without data loss.",
           number(status, "may_fail"));
  page.one("spares", "gauge", "Spares.", status["spares"].size());
  add_members(page, status);
  add_rebuild(page, status);
  add_scrub_history(page, status["scrubs"]);
  // The rest is known to a server only.
  if (!status.contains("scrub")) return std::move(page).text();
  page.one("lost_blocks", "gauge", "Blocks that cannot be recovered, as far as known.",
           number(status["lost_blocks"], "count"));
  page.one("missed_stripes", "gauge", "Stripes that a member which is out has missed.",
           number(status["stripes"], "missed"));
  add_scrub(page, status["scrub"]);
  add_log(page, status["log"]);
  return std::move(page).text();
}

}  // namespace calpe::tools
