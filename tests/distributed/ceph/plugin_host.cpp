// SPDX-License-Identifier: Apache-2.0
#include "distributed/ceph/plugin_host.hpp"

#include <cerrno>
#include <dlfcn.h>
#include <rados/librados.h>
#include <sstream>

// Symbols that plugins expect in a daemon.
namespace ceph {
namespace common {
class CephContext;
}
namespace global {
extern common::CephContext* g_ceph_context;
}

ErasureCodePluginRegistry ErasureCodePluginRegistry::singleton;

namespace {
// Never destroyed, because plugins and their libraries stay loaded.
std::map<std::string, ErasureCodePlugin*>& registered =
    *new std::map<std::string, ErasureCodePlugin*>;
}  // namespace

int ErasureCodePluginRegistry::add(const std::string& name, ErasureCodePlugin* plugin) {
  return registered.emplace(name, plugin).second ? 0 : -EEXIST;
}

}  // namespace ceph

namespace ceph_host {

namespace {

// Shipped plugins log and need a context, which librados creates.
void make_context() {
  if (ceph::global::g_ceph_context != nullptr) return;
  rados_t cluster = nullptr;
  if (rados_create(&cluster, nullptr) != 0) return;
  ceph::global::g_ceph_context = static_cast<ceph::common::CephContext*>(rados_cct(cluster));
}

Made refused(int status, const std::string& message) {
  return {nullptr, status, message};
}

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

Made load_only(const std::string& name, const std::string& path) {
  make_context();
  void* const library = dlopen(path.c_str(), RTLD_NOW);
  if (library == nullptr) return refused(-EIO, dlerror());
  const auto version = symbol<const char*()>(library, "__erasure_code_version");
  const auto init = symbol<int(char*, char*)>(library, "__erasure_code_init");
  if (version == nullptr || init == nullptr) return refused(-ENOENT, "no entry point in " + path);
  if (std::string(version()) != CALPE_CEPH_VERSION) {
    return refused(-EXDEV, "expected version " CALPE_CEPH_VERSION " but it claims to be " +
                               std::string(version()));
  }
  std::string own_name = name;
  std::string folder = path.substr(0, path.rfind('/'));
  if (const int status = init(own_name.data(), folder.data())) {
    return refused(status, "init failed");
  }
  if (ceph::registered.count(name) == 0) return refused(-EBADF, name + " did not register");
  ceph::registered[name]->library = library;
  return {};
}

Made make_code(Profile& profile) {
  const std::string& name = profile.at("plugin");
  const std::string folder = name == "calpe" ? CALPE_CEPH_OWN_DIR : CALPE_CEPH_SHIPPED_DIR;
  if (ceph::registered.count(name) == 0) {
    Made loaded = load_only(name, folder + "/libec_" + name + ".so");
    if (loaded.status != 0) return loaded;
  }
  Made made;
  std::ostringstream messages;
  made.status = ceph::registered[name]->factory(folder, profile, &made.code, &messages);
  made.message = messages.str();
  if (made.status == 0 && profile != made.code->get_profile()) {
    return refused(-EINVAL, "the profile differs from get_profile()");
  }
  return made;
}

}  // namespace ceph_host
