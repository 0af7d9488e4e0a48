// SPDX-License-Identifier: Apache-2.0
// Sets or unsets an environment variable for a scope.
#pragma once
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace calpe::tests {

class EnvironmentScope {
 public:
  EnvironmentScope(std::string name, const std::optional<std::string>& value)
      : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) before_ = old;
    set(value);
  }
  ~EnvironmentScope() { set(before_); }
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
#if defined(_WIN32)
    _putenv_s(name_.c_str(), value ? value->c_str() : "");  // removes it if empty
#else
    if (value) {
      setenv(name_.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
#endif
  }
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace calpe::tests
