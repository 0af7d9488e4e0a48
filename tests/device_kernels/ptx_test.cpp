// SPDX-License-Identifier: Apache-2.0
// NVIDIA's assembler accepts every kind of PTX, as a program and as the library that links at run
// time, for all current architectures and without spills. CALPE_NIGHTLY=1 adds the slowest cases.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <iostream>
#include <regex>

#include "device_kernels/text_cases.hpp"
#include "support/peer_library.hpp"
#include "support/workshop.hpp"

namespace calpe::tests {
namespace {

constexpr std::array architectures = {"sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"};

bool is_nightly() {
  return std::getenv("CALPE_NIGHTLY") != nullptr;
}

std::vector<TextCase> all_cases() {
  std::vector<TextCase> cases;
  for (const std::size_t word : {std::size_t{1}, std::size_t{4}, std::size_t{16}}) {
    for (const emit::TableStyle style : {emit::TableStyle::units, emit::TableStyle::planes})
      cases.push_back(table_case(style, ptx_form(word)));
    for (const CodeShape& shape :
         {CodeShape{3, 2, 8}, CodeShape{5, 2, 3}, CodeShape{10, 4, 8}, CodeShape{16, 16, 8}}) {
      const bool is_wide = shape.data_shards == 16;
      cases.push_back(planes_case(shape, ptx_form(word)));
      for (const std::size_t stride : {std::size_t{512}, std::size_t{2048}, std::size_t{0}}) {
        if (is_wide && (word != 4 || stride != 512) && !is_nightly()) continue;
        cases.push_back(units_case(shape, ptx_form(word, stride)));
      }
    }
  }
  emit::DeviceForm adding = ptx_form(16, 512);
  adding.accumulate = true;
  cases.push_back(units_case({5, 2, 3}, adding));
  cases.push_back(planes_case({10, 4, 8}, adding));
  cases.push_back(sliced_case({10, 4, 8}, adding));
  for (const CodeShape& shape : {CodeShape{3, 2, 8}, CodeShape{10, 4, 8}, CodeShape{16, 4, 8}})
    cases.push_back(sliced_case(shape, ptx_form(16)));
  cases.push_back(sliced_case({10, 4, 8}, ptx_form(16), 2));
  cases.push_back(sliced_case({10, 4, 8}, ptx_form(16), 1, 4));
  cases.push_back(planes_case({20, 10, 8}, ptx_form(16)));
  cases.push_back(units_case({20, 10, 8}, ptx_form(4, 512)));
  cases.push_back(units_case({10, 4, 8}, ptx_form(4, 512), 1, 4));
  cases.push_back(planes_case({10, 4, 8}, ptx_form(16), 1, 4));
  cases.push_back(planes_case({16, 16, 8}, ptx_form(4), 1, 16));
  return cases;
}

std::vector<TextCase> widest_cases() {
  std::vector<TextCase> cases = {planes_case({223, 32, 8}, ptx_form(4))};
  if (!is_nightly()) return cases;
  cases.push_back(planes_case({223, 32, 8}, ptx_form(16)));
  cases.push_back(units_case({223, 32, 8}, ptx_form(4, 512)));
  return cases;
}

// The assembler's message about spills, for both ways of calling it: one line per entry.
testing::AssertionResult has_no_spills(const std::string& log, std::size_t entries) {
  static const std::regex line(
      R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)");
  std::size_t found = 0;
  for (std::sregex_iterator at(log.begin(), log.end(), line), end; at != end; ++at, ++found) {
    for (std::size_t i = 1; i <= 3; ++i) {
      if ((*at)[i].str() != "0") return testing::AssertionFailure() << at->str();
    }
  }
  if (found == entries) return testing::AssertionSuccess();
  return testing::AssertionFailure() << found << " of " << entries << " entries in: " << log;
}

std::string ptxas_path() {
  const char* home = std::getenv("CUDA_HOME");
  return std::string(home != nullptr ? home : "/usr/local/cuda") + "/bin/ptxas";
}

testing::AssertionResult assemble(const Workshop& workshop, const TextCase& test,
                                  const std::string& architecture) {
  auto process = Subprocess::start(
      {ptxas_path(), "-v", "-arch=" + architecture, workshop.write("text.ptx", test.text.text),
       "-o", workshop.path("text.cubin")},
      std::chrono::minutes(5));
  if (!process) return testing::AssertionFailure() << process.error().message;
  const ExitStatus status = process->wait();
  if (!status.is_success()) return testing::AssertionFailure() << status.output.substr(0, 2000);
  return has_no_spills(status.output, test.text.entries.size());
}

class JitLink {
 public:
  JitLink() : library_("libnvJitLink.so.13", "cuda-libraries-13-0") {
    library_.find("__nvJitLinkCreate_13_0", create_);
    library_.find("__nvJitLinkDestroy_13_0", destroy_);
    library_.find("__nvJitLinkAddData_13_0", add_);
    library_.find("__nvJitLinkComplete_13_0", complete_);
    library_.find("__nvJitLinkGetInfoLogSize_13_0", info_size_);
    library_.find("__nvJitLinkGetInfoLog_13_0", info_);
    library_.find("__nvJitLinkGetErrorLogSize_13_0", error_size_);
    library_.find("__nvJitLinkGetErrorLog_13_0", error_);
  }
  const std::string& missing() const { return library_.missing(); }

  testing::AssertionResult link(const TextCase& test, const std::string& architecture) {
    const std::string option = "-arch=" + architecture;
    std::array<const char*, 2> options = {option.c_str(), "-Xptxas=-v"};
    void* job = nullptr;
    if (create_(&job, options.size(), options.data()) != 0) {
      return testing::AssertionFailure() << "nvJitLinkCreate fails for " << option;
    }
    constexpr int ptx = 2;
    const std::string& text = test.text.text;
    const bool is_linked =
        add_(job, ptx, text.c_str(), text.size() + 1, "text") == 0 && complete_(job) == 0;
    const std::string log =
        is_linked ? log_of(job, info_size_, info_) : log_of(job, error_size_, error_);
    destroy_(&job);
    if (!is_linked) return testing::AssertionFailure() << log.substr(0, 2000);
    return has_no_spills(log, test.text.entries.size());
  }

 private:
  using Size = int(void*, std::size_t*);
  using Text = int(void*, char*);
  static std::string log_of(void* job, Size* size, Text* text) {
    std::size_t bytes = 0;
    size(job, &bytes);
    std::string log(bytes, '\0');
    text(job, log.data());
    return log;
  }

  PeerLibrary library_;
  int (*create_)(void**, std::uint32_t, const char**) = nullptr;
  int (*destroy_)(void**) = nullptr;
  int (*add_)(void*, int, const void*, std::size_t, const char*) = nullptr;
  int (*complete_)(void*) = nullptr;
  Size* info_size_ = nullptr;
  Text* info_ = nullptr;
  Size* error_size_ = nullptr;
  Text* error_ = nullptr;
};

TEST(DevicePtx, ptxas_accepts_all_without_spills) {
  if (!std::filesystem::exists(ptxas_path())) {
    GTEST_SKIP() << ptxas_path() << " does not exist: install the CUDA toolkit or set CUDA_HOME";
  }
  const Workshop workshop;
  std::size_t count = 0;
  const auto check = [&](const TextCase& test, const char* architecture) {
    EXPECT_TRUE(assemble(workshop, test, architecture)) << test.name << " " << architecture;
    ++count;
  };
  for (const TextCase& test : all_cases()) {
    for (const char* architecture : architectures)
      check(test, architecture);
  }
  for (const TextCase& test : widest_cases())
    check(test, "sm_90");
  std::cout << count << " texts assembled\n";
}

TEST(DevicePtx, jit_link_accepts_all_without_spills) {
  JitLink linker;
  if (!linker.missing().empty()) GTEST_SKIP() << linker.missing();
  std::size_t count = 0;
  const auto check = [&](const TextCase& test, const char* architecture) {
    EXPECT_TRUE(linker.link(test, architecture)) << test.name << " " << architecture;
    ++count;
  };
  // The same assembler: one architecture per case, all of them in the nightly run.
  std::size_t turn = 0;
  for (const TextCase& test : all_cases()) {
    for (std::size_t i = 0; i < architectures.size(); ++i) {
      if (is_nightly() || i == turn % architectures.size()) check(test, architectures[i]);
    }
    ++turn;
  }
  std::cout << count << " texts linked\n";
}

// The checks above can fail: a program that is too large spills, and a syntax error is reported.
TEST(DevicePtx, spills_and_errors_are_detected) {
  if (!std::filesystem::exists(ptxas_path())) GTEST_SKIP() << ptxas_path() << " does not exist";
  const Workshop workshop;
  const code::Code code = cauchy_code({10, 4, 8});
  const ir::Program direct =
      ir::lower_to_xor(ir::build(code.field, plan::encode_recipe(code).coefficients));
  const std::vector<emit::RowGroup> as_it_is = {{direct, 0}};  // 80 inputs of four registers
  TextCase test{"too wide", ptx_form(16, 512),
                *emit::emit_units({10, 4, 8}, as_it_is, ptx_form(16, 512)), 0};
  EXPECT_FALSE(assemble(workshop, test, "sm_90"));
  test = table_case(emit::TableStyle::units, ptx_form(4));
  ASSERT_TRUE(assemble(workshop, test, "sm_90"));
  test.text.text.replace(test.text.text.find("bar.sync"), 8, "bar.sunc");
  EXPECT_FALSE(assemble(workshop, test, "sm_90"));
}

}  // namespace
}  // namespace calpe::tests
