// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_api.hpp"

#include <bit>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>

#include "base/env.hpp"
#include "base/process_fork.hpp"
#include "base/try.hpp"

namespace calpe::backend::cuda {

namespace {

constexpr const char* path_variable = "CALPE_CUDA_DRIVER";
constexpr const char* default_path = "libcuda.so.1";

template <class... Parts>
Error unavailable(const Parts&... parts) {
  return make_error(ErrorCode::backend_unavailable, parts...);
}

template <class... Parameters>
bool resolve(void* library, Function<Parameters...>& function) {
  void* address = dlsym(library, function.symbol);
  function.address = reinterpret_cast<CuResult (*)(Parameters...)>(address);
  return address != nullptr;
}

Result<std::unique_ptr<CudaApi>> load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unavailable("no CUDA driver: ", dlerror());
  auto api = std::make_unique<CudaApi>();
  api->path = path;
#define CALPE_CUDA_RESOLVE(name, symbol, ...) \
  if (!resolve(library, api->name))           \
    return unavailable("CUDA driver ", path, " is too old: it has no ", symbol);
  CALPE_CUDA_FUNCTIONS(CALPE_CUDA_RESOLVE)
#undef CALPE_CUDA_RESOLVE
#define CALPE_CUDA_RESOLVE(name, ...) static_cast<void>(resolve(library, api->name));
  CALPE_CUDA_NEWER_FUNCTIONS(CALPE_CUDA_RESOLVE)
#undef CALPE_CUDA_RESOLVE
  return api;
}

// A driver serves the process that initialised it, not a forked child.
constinit ProcessClaim driver;

bool means_no_device(CuResult result) {
  return result == cuda_error_stub_library || result == cuda_error_no_device ||
         result == cuda_error_unknown;
}

}  // namespace

std::string CudaApi::describe(std::string_view symbol, CuResult result) const {
  const char* name = nullptr;
  const char* explanation = nullptr;
  if (get_error_name.address(result, &name) != cuda_success) name = nullptr;
  if (get_error_string.address(result, &explanation) != cuda_success) explanation = nullptr;
  std::string out = text(symbol, ": ", result);
  if (name != nullptr) out += text(", ", name);
  if (explanation != nullptr) out += text(" (", explanation, ")");
  return out;
}

Error CudaApi::error(std::string_view symbol, CuResult result) const {
  return make_error(
      result == cuda_error_out_of_memory ? ErrorCode::out_of_memory : ErrorCode::device_failed,
      describe(symbol, result));
}

Result<const CudaApi*> open_cuda_api() {
  // Tables and parameters are copied to the device in host byte order.
  if constexpr (std::endian::native != std::endian::little) {
    return unavailable("CUDA needs a little-endian machine");
  }
  if (is_privileged()) {
    return unavailable(
        "CUDA is disabled in privileged processes (setuid, setgid, capabilities), because drivers "
        "read the environment");
  }
  if (!driver.is_ours()) {
    return unavailable("CUDA was used by the parent process and cannot be used after fork()");
  }
  // Never destroyed, because devices may be used until the process ends.
  static std::mutex& mutex = *new std::mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<const CudaApi>>;

  const std::string path = environment(path_variable).value_or(default_path);
  const std::lock_guard lock(mutex);
  const auto found = loaded.find(path);
  if (found != loaded.end()) return found->second.get();
  CALPE_TRY(std::unique_ptr<CudaApi> api, load(path));
  const CuResult result = api->init.address(0);
  if (means_no_device(result)) {
    return unavailable("no CUDA device: ", api->describe(api->init.symbol, result));
  }
  if (result != cuda_success) return unavailable(api->describe(api->init.symbol, result));
  return loaded.emplace(path, std::move(api)).first->second.get();
}

}  // namespace calpe::backend::cuda
