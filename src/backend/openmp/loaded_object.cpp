// SPDX-License-Identifier: Apache-2.0
#include "backend/openmp/loaded_object.hpp"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace calpe::backend::openmp {

namespace {

// The loader maps what the headers say and faults if the file was truncated. Linkers write the
// section table at the end, so check that.
bool is_whole(std::string_view object) {
  Elf64_Ehdr header = {};
  if (object.size() < sizeof header) return false;
  std::memcpy(&header, object.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  const std::uint64_t table_bytes = std::uint64_t{header.e_shnum} * header.e_shentsize;
  return header.e_shnum != 0 && header.e_shoff <= object.size() &&
         table_bytes <= object.size() - header.e_shoff;
}

Error failed(std::string_view what) {
  return make_error(ErrorCode::compile_failed, "compiled object cannot be loaded: ", what);
}

}  // namespace

void LoadedObject::Unload::operator()(void* handle) const noexcept {
  dlclose(handle);
}

Result<LoadedObject> LoadedObject::load(std::string_view object, const std::string& name,
                                        bool stays) {
  if (!is_whole(object)) return failed("the ELF file is incomplete");
  // Use a new name each time: the loader returns the known object for a known name.
  CALPE_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  const std::string path = folder.path() + "/kernel.so";
  CALPE_CHECK(replace_file(path, object));
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | (stays ? RTLD_NODELETE : 0));
  if (handle == nullptr) return failed(dlerror());
  void* symbol = dlsym(handle, name.c_str());
  LoadedObject loaded(handle, reinterpret_cast<Function*>(symbol));
  if (symbol == nullptr) return failed(text("no function ", name));
  return loaded;
}

}  // namespace calpe::backend::openmp
