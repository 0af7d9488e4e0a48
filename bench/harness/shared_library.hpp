// SPDX-License-Identifier: Apache-2.0
// A peer's shared object, opened at run time.
#pragma once
#include <string>

#include <calpe/result.hpp>

namespace calpe::bench {

class SharedLibrary {
 public:
  // `name` is a path if it contains a slash, otherwise a soname.
  // Fails with invalid_argument and the loader's reason.
  static Result<SharedLibrary> open(const std::string& name);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&&) = delete;
  ~SharedLibrary();

  const std::string& path() const noexcept { return path_; }  // real path, links resolved
  // The part after ".so." in the real path, "2.0.30"; empty if it is only an ABI version.
  const std::string& version() const noexcept { return version_; }

  // Sets `function` to the address of a symbol; false if it is missing.
  template <class Function>
  bool find(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(address_of(symbol));
    return function != nullptr;
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* address_of(const char* symbol) const;
  void* handle_;
  std::string path_;
  std::string version_;
};

}  // namespace calpe::bench
