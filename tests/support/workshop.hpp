// SPDX-License-Identifier: Apache-2.0
// A temporary directory for one test, and programs that run in it.
#pragma once
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "base/subprocess.hpp"
#include "support/scratch_folder.hpp"

namespace calpe::tests {

class Workshop : public ScratchFolder {
 public:
  // Runs a program and waits; a failure shows its output.
  static testing::AssertionResult run(const std::vector<std::string>& arguments) {
    auto process = Subprocess::start(arguments, std::chrono::minutes(5));
    if (!process) return testing::AssertionFailure() << process.error().message;
    const ExitStatus status = process->wait();
    if (status.is_success()) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << arguments[0] << " " << to_string(status) << ": " << status.output.substr(0, 4000);
  }
};

// A shared object. It stays loaded, because idle OpenMP threads run its code.
class Loaded {
 public:
  explicit Loaded(const std::string& path)
      : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_NODELETE)) {
    if (handle_ == nullptr) ADD_FAILURE() << dlerror();
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  template <class Function>
  Function* find(const std::string& name) const {
    void* symbol = handle_ == nullptr ? nullptr : dlsym(handle_, name.c_str());
    if (symbol == nullptr) ADD_FAILURE() << "no symbol " << name;
    return reinterpret_cast<Function*>(symbol);
  }

 private:
  void* handle_;
};

}  // namespace calpe::tests
