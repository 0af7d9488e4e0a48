// SPDX-License-Identifier: Apache-2.0
// A compiled shared object, loaded into this process.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include <calpe/result.hpp>

#include "emit/shards_work.hpp"

namespace calpe::backend::openmp {

using Function = void(const emit::ShardsWork*);

class LoadedObject {
 public:
  // `object` has the bytes of a shared object that defines `name`. `stays`: never unload it,
  // because idle OpenMP threads run code of a library that it loaded. Fails with compile_failed.
  static Result<LoadedObject> load(std::string_view object, const std::string& name, bool stays);
  Function* function() const noexcept { return function_; }

 private:
  struct Unload {
    void operator()(void* handle) const noexcept;
  };
  LoadedObject(void* handle, Function* code) : handle_(handle), function_(code) {}
  std::unique_ptr<void, Unload> handle_;
  Function* function_;
};

}  // namespace calpe::backend::openmp
