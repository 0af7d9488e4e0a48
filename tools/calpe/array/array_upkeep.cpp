// SPDX-License-Identifier: Apache-2.0
// calpe array rebuild, scrub and rate. The server does the work; these commands start it and wait.
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <thread>

#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/array/array_report.hpp"
#include "calpe/array/array_verbs.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/cli/progress_bar.hpp"

namespace calpe::tools {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::chrono::milliseconds between_questions(50);

struct UpkeepArguments {
  ArrayArguments array;
  std::optional<std::uint64_t> rate;
  std::optional<std::uint64_t> scrub_rate;
  bool is_detached = false;
  bool stop = false;
  bool pause = false;
  bool resume = false;
};

// Polls the status until `is_over(status)`, and returns it.
template <class Over, class Work>
Result<Json> wait_for(ArrayEndpoint& array, const std::string& what, const Over& is_over,
                      const Work& work_of) {
  Progress bar(what);
  for (bool is_first = true;; is_first = false) {
    CALPE_TRY(Json status, array.ask({{"do", "status"}}));
    if (is_over(status)) {
      bar.end();
      return status;
    }
    if (const Json& work = work_of(status); work.is_object()) {
      const auto done = work["done"].get<std::uint64_t>();
      if (is_first) bar.resume(done);
      bar.update(done, work["all"].get<std::uint64_t>());
    }
    std::this_thread::sleep_for(between_questions);
  }
}

Status set_rate(ArrayEndpoint& array, const char* key, const std::optional<std::uint64_t>& rate) {
  if (!rate) return Done{};
  CALPE_TRY([[maybe_unused]] const Json answer, array.ask({{"do", "rate"}, {key, *rate}}));
  return Done{};
}

// With take-spares=no a spare does not start a rebuild.
bool has_rebuild(const Json& status) {
  return status["rebuild"].is_object() ||
         (status["state"] == "degraded" && !status["spares"].empty() &&
          status.value("takes_spares", true));
}

Result<int> rebuild(ArrayEndpoint& array, const UpkeepArguments& arguments) {
  CALPE_CHECK(set_rate(array, "rebuild", arguments.rate));
  CALPE_TRY([[maybe_unused]] const Json resumed, array.ask({{"do", "resume"}}));
  CALPE_TRY(Json status, array.ask({{"do", "status"}}));
  if (!arguments.is_detached && has_rebuild(status)) {
    auto ended = wait_for(
        array, "rebuilding",
        [](const Json& now) { return !has_rebuild(now) || now["state"] == "failed"; },
        [](const Json& now) -> const Json& { return now["rebuild"]; });
    CALPE_TRY(status, std::move(ended));
  }
  if (arguments.array.json) {
    print_json(status);
  } else {
    fmt::print("{}", array_table(status));
  }
  if (arguments.is_detached) return exit_ok;
  return array_exit_code(status);
}

Result<int> scrub(ArrayEndpoint& array, const UpkeepArguments& arguments) {
  if (arguments.stop) {
    CALPE_TRY([[maybe_unused]] const Json answer, array.ask({{"do", "scrub"}, {"stop", true}}));
    return exit_ok;
  }
  CALPE_CHECK(set_rate(array, "scrub", arguments.rate));
  CALPE_TRY([[maybe_unused]] const Json answer, array.ask({{"do", "scrub"}}));
  if (arguments.is_detached) return exit_ok;
  CALPE_TRY(const Json status,
            wait_for(
                array, "scrubbing", [](const Json& now) { return !now["scrub"]["running"]; },
                [](const Json& now) -> const Json& { return now["scrub"]; }));
  const Json& done = status["scrub"];
  if (const auto why = done["why"].get<std::string>(); !why.empty()) {
    return make_error(status["state"] == "failed" ? ErrorCode::unrecoverable : ErrorCode::io,
                      "the scrub stopped early: ", why);
  }
  const auto lost = done["lost"].get<std::uint64_t>();
  std::string warning = lost_blocks_text(status);
  const bool is_lost = lost != 0 || !warning.empty();
  if (is_lost && warning.empty()) {
    warning = fmt::format("{} cannot be repaired, although the data can be read",
                          count_text(lost, "parity block"));
  }
  if (arguments.array.json) {
    print_json(status);
  } else {
    fmt::print("scrubbed {}: found {}, repaired {}{}\n",
               bytes_text(done["all"].get<std::uint64_t>()),
               count_text(done["found"].get<std::uint64_t>(), "wrong block"),
               count_text(done["repaired"].get<std::uint64_t>(), "block"),
               is_lost ? fmt::format("; WARNING: {}", warning) : "");
    for (const Json& member : status["members"]) {
      if (member["corrupt_blocks"].get<std::uint64_t>() != 0) {
        fmt::print("member {}: {} so far\n", member["member"].get<unsigned>(),
                   count_text(member["corrupt_blocks"].get<std::uint64_t>(), "wrong block"));
      }
    }
  }
  return is_lost ? exit_lost : exit_ok;
}

Result<int> rate(ArrayEndpoint& array, const UpkeepArguments& arguments) {
  CALPE_CHECK(set_rate(array, "rebuild", arguments.rate));
  CALPE_CHECK(set_rate(array, "scrub", arguments.scrub_rate));
  if (arguments.pause || arguments.resume) {
    CALPE_TRY([[maybe_unused]] const Json answer,
              array.ask({{"do", arguments.pause ? "pause" : "resume"}}));
  }
  CALPE_TRY(const Json status, array.ask({{"do", "status"}}));
  if (arguments.array.json) {
    print_json(status["rates"]);
  } else {
    const auto text_of = [&](const char* key) {
      const auto bytes = status["rates"][key].get<std::uint64_t>();
      return bytes == 0 ? std::string("no limit") : fmt::format("{}/s", bytes_text(bytes));
    };
    fmt::print("rebuild: {}, scrub: {}{}\n", text_of("rebuild"), text_of("scrub"),
               status["paused"].get<bool>() ? ", paused" : "");
  }
  return exit_ok;
}

// Without a server there is nothing to set, stop or leave running.
Result<int> check_served(const UpkeepArguments& arguments) {
  if (!arguments.array.place.control.empty()) return exit_ok;
  if (arguments.array.verb == "rate")
    return invalid("--control is missing; only a server has rates");
  if (arguments.stop || arguments.is_detached)
    return invalid(arguments.stop ? "--stop" : "--detach", " needs --control SOCKET");
  return exit_ok;
}

using Run = Result<int> (*)(ArrayEndpoint&, const UpkeepArguments&);

CLI::App* add_verb(CLI::App& array, const std::shared_ptr<UpkeepArguments>& arguments,
                   const std::string& name, const std::string& description,
                   const std::string& examples, Run run, int& exit_code) {
  CLI::App* const verb = add_array_verb(array, arguments->array, name, description, examples);
  add_place_options(*verb, arguments->array);
  verb->callback([arguments, run, &exit_code] {
    exit_code = run_array_verb(arguments->array, [&] { return check_served(*arguments); });
    if (exit_code != exit_ok) return;
    exit_code = run_with_array(arguments->array, Json::object(),
                               [&](ArrayEndpoint& reached) { return run(reached, *arguments); });
  });
  return verb;
}

void add_rate(CLI::App& verb, const std::string& name, std::optional<std::uint64_t>& rate,
              const std::string& description) {
  verb.add_option(name, rate, description)->transform(CLI::AsSizeValue(false));
}

}  // namespace

void add_array_upkeep(CLI::App& array, int& exit_code) {
  auto rebuilt = std::make_shared<UpkeepArguments>();
  CLI::App* verb =
      add_verb(array, rebuilt, "rebuild",
               "Rebuild or copy replaced members, and wait until it is done\n\n"
               "An interrupted rebuild resumes where it stopped.",
               "Example: calpe array rebuild --rate 50M --control ctl", rebuild, exit_code);
  add_rate(*verb, "--rate", rebuilt->rate, "Bytes of a member per second, 0 for no limit");
  verb->add_flag("--detach", rebuilt->is_detached, "Return at once (served arrays only)");

  auto scrubbed = std::make_shared<UpkeepArguments>();
  verb = add_verb(array, scrubbed, "scrub",
                  "Verify every block of every member, and repair wrong ones",
                  "Example: calpe array scrub --rate 20M --control ctl", scrub, exit_code);
  add_rate(*verb, "--rate", scrubbed->rate, "Bytes of data per second, 0 for no limit");
  verb->add_flag("--detach", scrubbed->is_detached, "Return at once (served arrays only)");
  verb->add_flag("--stop", scrubbed->stop, "Stop the running scrub");

  auto rated = std::make_shared<UpkeepArguments>();
  verb = add_verb(array, rated, "rate", "Show or change the rebuild and scrub rates of a server",
                  "Example: calpe array rate --rebuild 50M --scrub 10M --control ctl", rate,
                  exit_code);
  add_rate(*verb, "--rebuild", rated->rate, "Rebuild rate in bytes per second, 0 for no limit");
  add_rate(*verb, "--scrub", rated->scrub_rate, "Scrub rate in bytes per second, 0 for no limit");
  CLI::Option* const pause = verb->add_flag("--pause", rated->pause, "Pause rebuild and scrub");
  verb->add_flag("--resume", rated->resume, "Resume rebuild and scrub")->excludes(pause);
}

}  // namespace calpe::tools
