// SPDX-License-Identifier: Apache-2.0
// calpe remote verify, repair and forget.
#include <fmt/format.h>
#include <memory>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/cli/progress_bar.hpp"
#include "calpe/files/files_report.hpp"
#include "calpe/remote/remote_verbs.hpp"
#include "remote/set/remote_check.hpp"

namespace calpe::tools {

namespace {

struct CheckArguments {
  RemoteArguments remote;
  remote::CheckOptions options;
};

struct ForgetArguments {
  RemoteArguments remote;
  std::size_t keep = 0;
  bool unfinished = false;
};

int exit_code_of(const remote::CheckReport& report, bool repairs, bool allows_weaker) {
  if (report.lost_segments != 0) return exit_lost;
  if (report.losses.is_weaker() && !allows_weaker) return exit_not_ok;
  return repairs || report.is_good() ? exit_ok : exit_not_ok;
}

nlohmann::ordered_json check_json(const remote::CheckReport& report) {
  nlohmann::ordered_json json = {{"set", to_json(report.newest.header)},
                                 {"segments", report.segments},
                                 {"damaged_segments", report.damaged_segments},
                                 {"lost_segments", report.lost_segments},
                                 {"lost_generations", report.lost_generations},
                                 {"missing_generation_copies", report.missing_copies},
                                 {"objects_written", report.objects_written},
                                 {"objects_moved", report.objects_moved},
                                 {"bytes_written", report.bytes_written},
                                 {"problems", report.problems}};
  add_losses(json, report.losses);
  return json;
}

std::string summary(const CheckArguments& arguments, const remote::CheckReport& report) {
  const std::string all = count_text(report.segments, "segment");
  if (report.lost_segments != 0)
    return text(
        report.lost_segments, " of ", all,
        " are lost; add more places, run calpe remote update with the files, or restore an older "
        "generation");
  if (arguments.options.repairs)
    return text("repaired ", count_text(report.damaged_segments, "segment"), ", ",
                count_text(report.objects_written, "object"), " and ",
                count_text(report.missing_copies, "generation object"), " written",
                report.objects_moved == 0
                    ? ""
                    : text("; ", report.objects_moved, " of the objects were moved"));
  if (report.is_good()) return text("all ", all, " are good");
  return text(report.damaged_segments, " of ", all, " are damaged, ", report.missing_copies,
              " copies of generations are missing; calpe remote repair repairs them");
}

Result<int> check(const CheckArguments& given) {
  CheckArguments arguments = given;
  CALPE_TRY(arguments.options.change, change_options(arguments.remote));
  CALPE_TRY(remote::Places places, reach_places(arguments.remote));
  CALPE_TRY(const remote::RemoteSet set, choose_set(places, arguments.remote));
  Progress bar(arguments.options.repairs ? "repairing" : "verifying");
  arguments.options.on_progress = [&](std::uint64_t done, std::uint64_t all) {
    bar.update(done, all);
  };
  CALPE_TRY(const remote::CheckReport report,
            remote::check_on_places(places, set, arguments.options));
  bar.end();
  const int exit_code =
      exit_code_of(report, arguments.options.repairs, arguments.options.allows_weaker);
  if (arguments.remote.json) {
    print_json(check_json(report));
    return exit_code;
  }
  for (const std::string& problem : report.problems)
    fmt::print("{}\n", printable(problem));
  fmt::print("{}: {}.\n", remote_title(report.newest), summary(arguments, report));
  if (const std::string words = losses_text(report.losses); !words.empty())
    fmt::print("{}\n", words);
  return exit_code;
}

Result<int> forget(const ForgetArguments& arguments) {
  if (arguments.keep == 0 && !arguments.unfinished)
    return invalid("nothing to forget; give --keep N or --unfinished");
  CALPE_TRY(const remote::ChangeOptions change, change_options(arguments.remote));
  CALPE_TRY(remote::Places places, reach_places(arguments.remote));
  CALPE_CHECK(places.check_all_up());
  remote::Forgotten all;
  const auto add = [&](const remote::Forgotten& forgotten) {
    all.generations += forgotten.generations;
    all.objects += forgotten.objects;
    all.bytes += forgotten.bytes;
  };
  if (arguments.unfinished) {
    for (const remote::RemoteSet& set : remote::sets_on(places)) {
      if (!uuid_text(set.uuid).starts_with(arguments.remote.uuid)) continue;
      CALPE_TRY(const remote::Forgotten forgotten, remote::forget_begun(places, set, change));
      add(forgotten);
    }
  }
  if (arguments.keep != 0) {
    CALPE_TRY(const remote::RemoteSet set, choose_set(places, arguments.remote));
    CALPE_TRY(const remote::Forgotten forgotten,
              remote::forget_older(places, set.uuid, arguments.keep, change));
    add(forgotten);
  }
  if (arguments.remote.json) {
    print_json({{"generations", all.generations}, {"objects", all.objects}, {"bytes", all.bytes}});
  } else {
    fmt::print("Forgot {} and {}, {}.\n", count_text(all.generations, "generation"),
               count_text(all.objects, "object"), bytes_text(all.bytes));
  }
  return exit_ok;
}

}  // namespace

void add_remote_verify(CLI::App& remote, int& exit_code) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* const verb =
      add_remote_verb(remote, arguments->remote, "verify",
                      "Check all objects of a set on its places\n\n"
                      "Reads everything, which some services charge for; --quick does not.",
                      "Example: calpe remote verify s3://one/p s3://b@two/p --quick");
  add_places(*verb, arguments->remote);
  verb->add_flag("--quick", arguments->options.is_quick,
                 "Check only that all objects exist with the right size");
  verb->callback([arguments, &exit_code] {
    exit_code = run_remote_verb(arguments->remote, [&] { return check(*arguments); });
  });
}

void add_remote_repair(CLI::App& remote, int& exit_code) {
  auto arguments = std::make_shared<CheckArguments>();
  arguments->options.repairs = true;
  CLI::App* const verb = add_remote_verb(
      remote, arguments->remote, "repair",
      "Rebuild missing and wrong objects of a set\n\n"
      "Replaces a lost place: leave it out, and add a new one. Missing shards go to the places "
      "with the fewest. Moves shards if more places may be lost afterwards.",
      "Example: calpe remote repair s3://one/p s3://b@two/p rclone:new:p");
  add_places(*verb, arguments->remote);
  verb->add_flag("--quick", arguments->options.is_quick,
                 "Rebuild only objects that are missing or have a wrong size");
  add_read_back_flag(*verb, arguments->options.reads_back);
  verb->add_flag("--allow-weaker", arguments->options.allows_weaker,
                 "Repair even if fewer places may be lost than the set is made for");
  add_take_over_option(*verb, arguments->remote);
  verb->callback([arguments, &exit_code] {
    exit_code = run_remote_verb(arguments->remote, [&] { return check(*arguments); });
  });
}

void add_remote_forget(CLI::App& remote, int& exit_code) {
  auto arguments = std::make_shared<ForgetArguments>();
  CLI::App* const verb = add_remote_verb(
      remote, arguments->remote, "forget",
      "Remove old generations, and objects that no generation needs\n\n"
      "All places must be reachable.",
      "Example: calpe remote forget s3://one/p s3://b@two/p rclone:three:p --keep 1");
  add_places(*verb, arguments->remote);
  verb->add_option("--keep", arguments->keep, "Generations to keep, at least 1")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000U));
  verb->add_flag("--unfinished", arguments->unfinished,
                 "Remove sets whose protect was interrupted");
  add_take_over_option(*verb, arguments->remote);
  verb->callback([arguments, &exit_code] {
    exit_code = run_remote_verb(arguments->remote, [&] { return forget(*arguments); });
  });
}

}  // namespace calpe::tools
