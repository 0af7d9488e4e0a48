// SPDX-License-Identifier: Apache-2.0
// A third-party erasure coder, opened at run time and not linked. Tests skip if it is not
// installed.
#pragma once
#include <dlfcn.h>
#include <string>

namespace calpe::tests {

class PeerLibrary {
 public:
  // `package` is its Debian package.
  PeerLibrary(const char* soname, const char* package) : handle_(dlopen(soname, RTLD_NOW)) {
    if (handle_ == nullptr) {
      missing_.append(soname).append(" is not installed; apt install ").append(package);
    }
  }

  // Never closed: GF-Complete keeps its fields in globals, which leak checkers must still see.
  PeerLibrary(const PeerLibrary&) = delete;
  PeerLibrary& operator=(const PeerLibrary&) = delete;

  // Sets `function` to the address of a symbol; missing() names absent ones.
  template <class Function>
  void find(const char* symbol, Function*& function) {
    if (handle_ == nullptr) return;
    function = reinterpret_cast<Function*>(dlsym(handle_, symbol));
    if (function == nullptr) missing_.append("no symbol ").append(symbol).append("; ");
  }

  // Empty if the library and all requested symbols were found.
  const std::string& missing() const noexcept { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

}  // namespace calpe::tests
