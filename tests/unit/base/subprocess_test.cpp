// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.hpp"

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "support/environment_scope.hpp"
#include "support/workshop.hpp"

namespace calpe {
namespace {

using namespace std::chrono_literals;
using tests::EnvironmentScope;
using tests::Workshop;

Subprocess start_shell(const std::string& script, std::chrono::milliseconds limit = 20s) {
  auto process = Subprocess::start({"/bin/sh", "-c", script}, limit);
  EXPECT_TRUE(process) << process.error().message;
  return *std::move(process);
}

ExitStatus shell(const std::string& script, std::chrono::milliseconds limit = 20s) {
  return start_shell(script, limit).wait();
}

bool is_running(int pid) {  // false for a zombie
  std::ifstream state("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(state), {}};
  return !text.empty() && text.find(") Z ") == std::string::npos;
}

TEST(Subprocess, reports_exit_status_and_output) {
  const ExitStatus fine = shell("echo out; echo err >&2");
  EXPECT_TRUE(fine.is_success());
  EXPECT_EQ(fine.output, "out\nerr\n");
  EXPECT_EQ(to_string(fine), "exited with 0");
  EXPECT_EQ(to_string(shell("exit 3")), "exited with 3");
  EXPECT_FALSE(shell("exit 3").is_success());
  EXPECT_EQ(to_string(shell("kill -9 $$")), "killed by signal 9");
}

TEST(Subprocess, missing_programs_cannot_be_started) {
  const auto process = Subprocess::start({"/does/not/exist"}, 1s);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::io);
  EXPECT_EQ(process.error().message, "cannot start /does/not/exist: No such file or directory");
}

TEST(Subprocess, arguments_bypass_the_shell) {
  auto process = Subprocess::start({"/bin/echo", "a b", "$HOME", "`id`", ""}, 20s);
  ASSERT_TRUE(process);
  EXPECT_EQ(process->wait().output, "a b $HOME `id` \n");
}

TEST(Subprocess, poll_does_not_block_and_remembers) {
  const Workshop workshop;
  Subprocess process =
      start_shell("while [ ! -e " + workshop.path("go") + " ]; do sleep 0.01; done");
  EXPECT_FALSE(process.poll());
  EXPECT_FALSE(process.poll());
  workshop.write("go", "");
  EXPECT_TRUE(process.wait().is_success());
  EXPECT_TRUE(process.poll()->is_success());
  EXPECT_TRUE(process.wait().is_success());
}

TEST(Subprocess, long_output_is_truncated) {
  const ExitStatus status = shell("head -c 3000000 /dev/zero");
  EXPECT_TRUE(status.is_success());
  EXPECT_EQ(status.output.size(), ExitStatus::output_bytes_max);
}

TEST(Subprocess, is_killed_with_its_children_after_the_time_limit) {
  const Workshop workshop;
  const std::string file = workshop.path("pid");
  int grandchild = 0;
  // An emulated shell is slow to print its child's process id.
  for (auto limit = 300ms; grandchild == 0 && limit < 20s; limit *= 4) {
    const ExitStatus status = shell("sleep 60 & echo $! > " + file + "; wait", limit);
    EXPECT_EQ(status.kind, ExitStatus::Kind::timed_out);
    EXPECT_EQ(to_string(status), "killed after its time limit");
    std::ifstream(file) >> grandchild;
  }
  ASSERT_GT(grandchild, 0);
  // The process that adopts it may reap it late, or never.
  for (int i = 0; i < 500 && is_running(grandchild); ++i)
    std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(is_running(grandchild));
}

TEST(Subprocess, leaves_no_zombie_when_destroyed) {
  int pid = 0;
  {
    Subprocess process = start_shell("sleep 60");
    pid = process.pid();
    Subprocess moved = std::move(process);
    EXPECT_EQ(process.pid(), -1);
    EXPECT_EQ(moved.pid(), pid);
  }
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), -1);  // no longer our child
  EXPECT_EQ(errno, ECHILD);
}

TEST(Subprocess, is_unknown_when_reaped_elsewhere) {
  Subprocess process = start_shell("exit 0");
  ASSERT_EQ(waitpid(process.pid(), nullptr, 0), process.pid());
  const ExitStatus status = process.wait();
  EXPECT_EQ(status.kind, ExitStatus::Kind::unknown);
  EXPECT_FALSE(status.is_success());
  EXPECT_EQ(to_string(status), "exit status unknown");
}

// A forked copy neither waits for the program nor kills it.
TEST(Subprocess, is_not_touched_after_a_fork) {
  Subprocess asked = start_shell("sleep 60");
  Subprocess dropped = start_shell("sleep 60");
  const pid_t copy = fork();
  ASSERT_GE(copy, 0);
  if (copy == 0) {
    { const Subprocess gone = std::move(dropped); }
    _exit(asked.poll()->kind == ExitStatus::Kind::unknown ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(copy, &status, 0), copy);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(asked.poll());
  EXPECT_FALSE(dropped.poll());
}

TEST(Subprocess, inherits_no_open_file_and_uses_the_c_locale) {
  const int file = open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as some hosts do
  ASSERT_GT(file, 2);
  const EnvironmentScope german("LC_ALL", "de_DE.UTF-8");
  const ExitStatus status = shell("ls /proc/$$/fd; echo $LC_ALL");
  close(file);
  EXPECT_EQ(status.output, "0\n1\n2\nC\n");
}

TEST(FindProgram, searches_path_only) {
  const Workshop workshop;
  const std::string tool = workshop.write("calpe-tool", "#!/bin/sh\n");
  const EnvironmentScope path("PATH", "/nowhere::" + workshop.path(""));
  EXPECT_EQ(find_program("calpe-tool"), std::nullopt);  // not executable
  ASSERT_EQ(chmod(tool.c_str(), 0755), 0);
  EXPECT_TRUE(find_program("calpe-tool"));
  EXPECT_EQ(find_program(tool), tool);
  EXPECT_EQ(find_program(workshop.path("other")), std::nullopt);
  EXPECT_EQ(find_program(""), std::nullopt);
  EXPECT_EQ(find_program(workshop.path("")), std::nullopt);  // a directory
}

}  // namespace
}  // namespace calpe
