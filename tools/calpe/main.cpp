// SPDX-License-Identifier: Apache-2.0
// The calpe command. Each verb has its own file and is registered here.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <system_error>
#include <vector>

#include <calpe/codec.hpp>

#include "calpe/cli/completion.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/help_format.hpp"
#include "calpe/equations/cauchyrs.hpp"
#include "calpe/verbs.hpp"
#include "reram/device/reram_device.hpp"

namespace {

bool is_called(std::string_view name, int argc, char** argv) {
  const std::string_view path = argc == 0 ? "" : argv[0];
  return path.substr(path.rfind('/') + 1) == name;  // npos + 1 is 0
}

// Every shard, and every journal while it is changed, needs a descriptor, and the usual soft limit
// is 1024 where the hard one is far higher. It exists for programs with select(), which calpe does
// not use. Bounded, because programs that close all descriptors at their start would take long.
void raise_descriptor_limit() {
  constexpr rlim_t wanted = 1U << 16U;
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(limit.rlim_max, wanted);
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));  // the errors of open() are reported
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<const char* const> arguments(argv, static_cast<std::size_t>(argc));
  raise_descriptor_limit();
  calpe::backend::reram::add_reram();  // the library itself has no "--backend reram"
  if (is_called("cauchyrs", argc, argv))
    return calpe::tools::run_cauchyrs({argv + 1, static_cast<std::size_t>(argc - 1)});
  CLI::App app{"Protect data with erasure codes: any m of k+m shards may be lost"};
  app.name("calpe");
  calpe::tools::set_help_format(app);
  app.group("Codes, speed, research");  // inherited by verbs that set no group
  app.require_subcommand(1);
  app.set_version_flag("--version", "calpe " + std::string(calpe::version()),
                       "Print the version and exit");
  const std::string exit_codes = calpe::tools::exit_codes_help;
  app.footer(exit_codes);  // inherited by verbs that set no footer

  int exit_code = 0;
  calpe::tools::add_protect_command(app, exit_code);
  calpe::tools::add_verify_command(app, exit_code);
  calpe::tools::add_repair_command(app, exit_code);
  calpe::tools::add_restore_command(app, exit_code);
  calpe::tools::add_update_command(app, exit_code);
  calpe::tools::add_forget_command(app, exit_code);
  calpe::tools::add_add_parity_command(app, exit_code);
  calpe::tools::add_info_command(app, exit_code);
  calpe::tools::add_identify_command(app, exit_code);
  calpe::tools::add_remote_command(app, exit_code);
  calpe::tools::add_array_command(app, exit_code);
  calpe::tools::add_ceph_scrub_command(app, exit_code);
  calpe::tools::add_codes_command(app, exit_code);
  calpe::tools::add_durability_command(app, exit_code);
  calpe::tools::add_devices_command(app, exit_code);
  calpe::tools::add_selftest_command(app, exit_code);
  calpe::tools::add_bench_command(app, exit_code);
  calpe::tools::add_report_command(app, exit_code);
  calpe::tools::add_equations_command(app, exit_code);
  calpe::tools::add_reram_command(app, exit_code);
  app.footer(exit_codes +
             "\nExample: calpe protect photos --data 4 --parity 2 -o /mnt/a -o /mnt/b -o /mnt/c\n"
             "Example: calpe codes check --data 10 --parity 4\n"
             "Run calpe COMMAND --help for details; see also man calpe-COMMAND.");
  if (calpe::tools::is_completion_asked(arguments))
    return calpe::tools::print_completions(app, arguments);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return calpe::tools::exit_usage;
  }
  std::vector<const char*> words(arguments.begin(), arguments.end());
  if (std::string_view(words[1]) == "help") {  // calpe help protect: calpe protect --help
    words.erase(words.begin() + 1);
    words.push_back("--help");
  }
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    // CLI11 numbers its errors from 100; map them all to wrong usage. Help and version exit with 0.
    if (app.exit(error) != 0) return calpe::tools::exit_usage;
  } catch (const std::system_error& error) {  // fmt could not write its output
    std::fprintf(stderr, "calpe: %s\n", error.what());
    return calpe::tools::exit_system;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("calpe: cannot write to standard output\n", stderr);
    return calpe::tools::exit_system;
  }
  return exit_code;
}
