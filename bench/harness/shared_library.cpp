// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/shared_library.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <string_view>
#include <utility>

namespace calpe::bench {

Result<SharedLibrary> SharedLibrary::open(const std::string& name) {
  // RTLD_LOCAL: two versions of one library can be loaded and compared.
  // RTLD_NODELETE: some peers have global state or a runtime that cannot be unloaded.
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const reason = dlerror();  // names the file or a dependency
    return Error{ErrorCode::invalid_argument, reason == nullptr ? "cannot open " + name : reason};
  }
  SharedLibrary library(handle);
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) {
    library.path_ = map->l_name;
    if (char* const real = realpath(map->l_name, nullptr); real != nullptr) {
      library.path_ = real;
      std::free(real);
    }
  }
  constexpr std::string_view suffix = ".so.";
  if (const auto at = library.path_.rfind(suffix); at != std::string::npos)
    library.version_ = library.path_.substr(at + suffix.size());
  // A single "2" is the version of the ABI, not of the library.
  if (library.version_.find('.') == std::string::npos) library.version_.clear();
  return library;
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      version_(std::move(other.version_)) {}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* SharedLibrary::address_of(const char* symbol) const {
  return dlsym(handle_, symbol);
}

}  // namespace calpe::bench
