// SPDX-License-Identifier: Apache-2.0
// Sets an environment variable and restores it on destruction. Backends read theirs when a codec is
// created.
#pragma once
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "base/env.hpp"

namespace calpe::tools {

class ScopedVariable {
 public:
  // nullopt removes it.
  ScopedVariable(std::string name, const std::optional<std::string>& value)
      : name_(std::move(name)), before_(environment_or_empty(name_.c_str())) {
    set(value);
  }
  ~ScopedVariable() { set(before_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      setenv(name_.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace calpe::tools
