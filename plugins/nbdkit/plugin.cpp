// SPDX-License-Identifier: Apache-2.0
// The callbacks of the nbdkit plugin. They do not throw: errors are reported to nbdkit, with an
// errno for the client.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <syslog.h>
#include <unistd.h>

#include "array/service/control_socket.hpp"
#include "array/service/requests.hpp"
#include "array/service/service.hpp"
#include "array/service/stale_socket.hpp"
#include "nbdkit/command_line.hpp"
#include "nbdkit/nbdkit_interface.hpp"
#include "nbdkit/settings.hpp"

// Parallel requests, from any number of connections.
#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

namespace calpe::nbd {

namespace {

using array::Array;
using array::ControlSocket;
using array::Durability;
using array::Service;

constexpr std::uint32_t block_bytes = 4096;
constexpr std::uint32_t request_bytes_max = std::uint32_t{32} << 20U;

struct Plugin {
  Settings settings;
  std::unique_ptr<Service> service;
  std::unique_ptr<ControlSocket> control;
  pid_t foreground_process = 0;  // the process that nbdkit was started as
};

// A global, as nbdkit's callbacks have no argument for it. Never destroyed: the parent process that
// exits when nbdkit goes to the background would remove the child's control socket.
Plugin& plugin() {
  static auto* const only = new Plugin();
  return *only;
}

int errno_of(ErrorCode code) {
  if (code == ErrorCode::invalid_argument) return EINVAL;
  if (code == ErrorCode::out_of_memory) return ENOMEM;
  return EIO;
}

int say(const Error& error) {
  nbdkit_error("%s", error.message.c_str());
  nbdkit_set_error(errno_of(error.code));
  return -1;
}

// Returns 0, or -1 after reporting the error.
template <class Work>
int guarded(const Work& work) noexcept {
  try {
    const Status done = work();
    return done ? 0 : say(done.error());
  } catch (const std::exception& thrown) {
    nbdkit_error("%s", thrown.what());
    nbdkit_set_error(EIO);
    return -1;
  }
}

Array& array() {
  return plugin().service->array();
}

Durability durability(std::uint32_t flags) {
  return (flags & NBDKIT_FLAG_FUA) != 0 ? Durability::durable : Durability::cached;
}

int config(const char* key, const char* value) {
  return guarded([&] { return set(plugin().settings, key, value); });
}

int config_complete() {
  return guarded([] { return check(plugin().settings); });
}

// Not with nbdkit_debug(), which is silent without -v.
void tell_missing() {
  const array::ArrayStatus status = array().status();
  for (const array::MemberStatus& member : status.now.members) {
    if (member.state != array::MemberState::out) continue;
    const bool is_missing = member.place >= plugin().service->members().count();
    std::fprintf(stderr, "calpe: member %u is %s; starting degraded\n", member.role,
                 is_missing ? "missing" : "out");
  }
  for (const array::UnusedPath& one : plugin().service->unused_paths(status)) {
    std::fprintf(stderr, "calpe: note: %s is not a member of this array: %s\n", one.path.c_str(),
                 one.why.c_str());
  }
}

// Runs before nbdkit goes to the background, so that errors reach the terminal.
int get_ready() {
  return guarded([]() -> Status {
    plugin().foreground_process = ::getpid();
    // nbdkit reports -r only to connections, not to the plugin.
    plugin().settings.service.is_server = true;
    plugin().settings.service.is_read_only = is_read_only_command(command_line());
    auto service = Service::open(plugin().settings.members, plugin().settings.service);
    if (!service) return std::move(service).error();
    plugin().service = *std::move(service);
    tell_missing();
    // nbdkit binds its socket later, and would refuse one that a killed server left. The members
    // are locked by now, so no other server uses them.
    if (const std::string socket = unix_socket_of(command_line()); !socket.empty()) {
      const Status cleared = array::clear_stale_socket("--unix", socket);
      if (!cleared) return cleared.error();
    }
    if (plugin().settings.control.empty()) return Done{};
    auto control = ControlSocket::open(plugin().settings.control);
    if (!control) return std::move(control).error();
    plugin().control = *std::move(control);
    return Done{};
  });
}

// In the foreground events go to stderr. In the background, where nbdkit has closed it, they go to
// the system log; warnings through nbdkit's own log, which --log can direct elsewhere.
void tell(const array::Event& event) {
  if (::getpid() == plugin().foreground_process) {
    std::fprintf(stderr, "calpe: %s\n", event.message.c_str());
  } else if (event.is_warning) {
    nbdkit_error("%s", event.message.c_str());
  } else {
    ::syslog(LOG_DAEMON | LOG_NOTICE, "calpe: %s", event.message.c_str());
  }
}

// Starts the threads here, as threads do not survive the fork.
int after_fork() {
  return guarded([]() -> Status {
    Service& service = *plugin().service;
    service.start(tell);
    if (plugin().control) {
      plugin().control->start(
          [&service](std::string_view line) { return array::answer(service, line); });
    }
    return Done{};
  });
}

void cleanup() {
  plugin().control.reset();
  if (plugin().service) guarded([] { return plugin().service->close(); });
  plugin().service.reset();
}

void* open_connection(int /*readonly*/) {
  return NBDKIT_HANDLE_NOT_NEEDED;
}

std::int64_t get_size(void* /*handle*/) {
  return static_cast<std::int64_t>(array().bytes());
}

int block_size(void* /*handle*/, std::uint32_t* minimum, std::uint32_t* preferred,
               std::uint32_t* maximum) {
  *minimum = 1;
  *preferred = block_bytes;
  *maximum = request_bytes_max;
  return 0;
}

int can_write(void* /*handle*/) {
  return plugin().settings.service.is_read_only ? 0 : 1;
}

int yes(void* /*handle*/) {
  return 1;
}

int no(void* /*handle*/) {
  return 0;
}

int can_fua(void* /*handle*/) {
  return NBDKIT_FUA_NATIVE;
}

int read(void* /*handle*/, void* bytes, std::uint32_t count, std::uint64_t offset,
         std::uint32_t /*flags*/) {
  return guarded([&] { return array().read(offset, {static_cast<std::byte*>(bytes), count}); });
}

int write(void* /*handle*/, const void* bytes, std::uint32_t count, std::uint64_t offset,
          std::uint32_t flags) {
  return guarded([&] {
    return array().write(offset, {static_cast<const std::byte*>(bytes), count}, durability(flags));
  });
}

int flush(void* /*handle*/, std::uint32_t /*flags*/) {
  return guarded([] { return array().flush(); });
}

int trim(void* /*handle*/, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) {
  return guarded([&] { return array().trim(offset, count, durability(flags)); });
}

int zero(void* /*handle*/, std::uint32_t count, std::uint64_t offset, std::uint32_t flags) {
  return guarded([&] { return array().zero(offset, count, durability(flags)); });
}

int extents(void* /*handle*/, std::uint32_t count, std::uint64_t offset, std::uint32_t flags,
            nbdkit_extents* out) {
  return guarded([&]() -> Status {
    auto found = array().extents(offset, count);
    if (!found) return std::move(found).error();
    for (const array::Extent& extent : *found) {
      const std::uint32_t kind =
          extent.is_data ? std::uint32_t{0} : NBDKIT_EXTENT_HOLE | NBDKIT_EXTENT_ZERO;
      if (nbdkit_add_extent(out, extent.offset, extent.bytes, kind) != 0)
        return Error{ErrorCode::out_of_memory, "out of memory for extents"};
      if ((flags & NBDKIT_FLAG_REQ_ONE) != 0) break;
    }
    return Done{};
  });
}

void dump_plugin() {
  std::printf("calpe_version=%s\n", CALPE_VERSION);
}

// A function, as designated initialisers would have to follow the order of the header.
nbdkit_plugin make_callbacks() noexcept {
  nbdkit_plugin callbacks = {};
  callbacks.name = "calpe";
  callbacks.longname = "crash-safe array of k+m files or disks (Calpe)";
  callbacks.version = CALPE_VERSION;
  callbacks.description =
      "A block device on k+m files or disks, of which any m may fail. Create an array with\n"
      "`calpe array create` and manage it with `calpe array --control SOCKET`.";
  callbacks.config = config;
  callbacks.config_complete = config_complete;
  callbacks.config_help =
      "member=PATH          A member or spare of the array; repeatable, in any order.\n"
      "members=PATH,...     The same, several at once.\n"
      "control=SOCKET       Control socket for `calpe array --control`.\n"
      "rebuild-rate=SIZE    Rebuild rate in bytes per second (default: 0, no limit).\n"
      "scrub-rate=SIZE      Scrub rate in bytes per second (default: 0, no limit).\n"
      "scrub-every=TIME     Scrub when the last complete scrub is older, such as 30d (default: 0,\n"
      "                     only on request). A server always resumes an interrupted scrub.\n"
      "take-spares=no       Do not use spares automatically.\n"
      "lease=SECONDS        Time between renewals of the lease (default: 1).\n"
      "member-timeout=SECONDS  Take out a member that does not answer for so long (default: 30\n"
      "                     for members behind a network or FUSE, else 0, no limit).\n"
      "hook=PROGRAM         Run PROGRAM EVENT MESSAGE for each event, such as member-out.";
  callbacks.magic_config_key = "member";
  callbacks.get_ready = get_ready;
  callbacks.after_fork = after_fork;
  callbacks.cleanup = cleanup;
  callbacks.open = open_connection;
  callbacks.get_size = get_size;
  callbacks.block_size = block_size;
  callbacks.can_write = can_write;
  callbacks.can_flush = yes;
  callbacks.can_trim = yes;
  callbacks.can_zero = yes;
  callbacks.can_extents = yes;
  callbacks.can_multi_conn = yes;  // a flush covers the writes of all connections
  callbacks.is_rotational = no;
  callbacks.can_fua = can_fua;
  callbacks.pread = read;
  callbacks.pwrite = write;
  callbacks.flush = flush;
  callbacks.trim = trim;
  callbacks.zero = zero;
  callbacks.extents = extents;
  callbacks.dump_plugin = dump_plugin;
  return callbacks;
}

nbdkit_plugin callbacks = make_callbacks();

}  // namespace

NBDKIT_REGISTER_PLUGIN(callbacks)

}  // namespace calpe::nbd
