// SPDX-License-Identifier: Apache-2.0
// calpe array create and grow-parity, which work on arrays that are not served.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "array/array.hpp"
#include "array/exclusive.hpp"
#include "array/members/disk_contents.hpp"
#include "array/members/file_members.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/uuid.hpp"
#include "calpe/array/array_checks.hpp"
#include "calpe/array/array_report.hpp"
#include "calpe/array/array_verbs.hpp"
#include "calpe/cli/exit_codes.hpp"
#include "calpe/cli/output.hpp"
#include "calpe/cli/progress.hpp"
#include "calpe/cli/progress_bar.hpp"

namespace calpe::tools {

namespace {

using array::FileMembers;
using array::MemberAccess;

struct CreateArguments {
  ArrayArguments array;
  std::uint16_t data = 0;
  std::uint16_t parity = 0;
  unsigned spares = 0;
  std::uint64_t member_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint32_t chunk_bytes = 65536;
  std::uint64_t log_bytes = 0;
  bool force = false;
};

// Removes new member files on destruction unless keep() was called.
class NewFiles {
 public:
  NewFiles() = default;
  ~NewFiles() {
    for (const std::string& path : paths_)
      ::unlink(path.c_str());
  }
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  void add(std::string path) { paths_.push_back(std::move(path)); }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
};

// Creates a file and allocates its blocks, so that a full disk fails now and not later, under a
// file system on the array. Keeps a file that exists.
Status make_member(const std::string& path, std::uint64_t bytes, NewFiles& made) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) return Done{};
  if (file >= 0) made.add(path);
  if (file < 0)
    return make_error(ErrorCode::io, "cannot create ", path, ": ", std::strerror(errno));
  const int error = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  ::close(file);
  if (error == 0) return Done{};
  return make_error(ErrorCode::io, "cannot allocate ", bytes, " bytes for ", path, ": ",
                    std::strerror(error));
}

// Size of each file or disk, or --member-size if it does not exist.
Result<std::vector<std::uint64_t>> sizes_of(const CreateArguments& arguments) {
  const std::vector<std::string>& paths = arguments.array.place.members;
  std::vector<std::uint64_t> sizes;
  CALPE_TRY(const std::unique_ptr<FileMembers> members,
            FileMembers::open(paths, MemberAccess::read));
  for (unsigned place = 0; place < members->count(); ++place) {
    const std::string why = members->why(place);
    struct stat status = {};
    const bool is_absent = ::stat(paths[place].c_str(), &status) != 0 && errno == ENOENT;
    if (!why.empty() && (!is_absent || arguments.member_bytes == 0))
      return make_error(ErrorCode::io, why, is_absent ? "; use --member-size to create it" : "");
    sizes.push_back(why.empty() ? members->bytes(place) : arguments.member_bytes);
    // Never overwrite data by mistake.
    if (why.empty() && !arguments.force) CALPE_CHECK(array::check_blank(paths[place]));
  }
  return sizes;
}

Result<int> create(const CreateArguments& arguments) {
  const std::vector<std::string>& paths = arguments.array.place.members;
  const std::size_t wanted = std::size_t{arguments.data} + arguments.parity + arguments.spares;
  if (paths.size() != wanted) {
    return invalid(paths.size(), " members given; expected ", wanted, ": --data ", arguments.data,
                   " + --parity ", arguments.parity, " + --spares ", arguments.spares);
  }
  array::Settings settings;
  settings.spec.data_shards = arguments.data;
  settings.spec.parity_shards = arguments.parity;
  settings.bytes = arguments.bytes;
  settings.chunk_bytes = arguments.chunk_bytes;
  settings.log_bytes = arguments.log_bytes;
  CALPE_TRY(const std::vector<std::uint64_t> sizes, sizes_of(arguments));
  CALPE_CHECK(array::check_create(settings, sizes));
  NewFiles made_files;
  if (arguments.member_bytes != 0) {
    for (const std::string& path : paths) {
      CALPE_CHECK(make_member(path, arguments.member_bytes, made_files));
    }
  }
  CALPE_TRY(const std::unique_ptr<FileMembers> members,
            FileMembers::open(paths, MemberAccess::write));
  for (unsigned place = 0; place < members->count(); ++place) {
    if (const std::string why = members->why(place); !why.empty())
      return make_error(ErrorCode::io, why);
    // Check again: now the members are locked.
    if (!arguments.force) CALPE_CHECK(array::check_blank(paths[place]));
  }
  members->use_uring();
  CALPE_CHECK(array::wait_for_lease(*members));
  const Uuid uuid = random_uuid();
  CALPE_CHECK(array::create(*members, settings, uuid));
  made_files.keep();
  CALPE_TRY(const array::Inspection made, array::inspect(*members));
  if (arguments.array.json) {
    print_json({{"uuid", uuid_text(uuid)},
                {"bytes", made.settings.bytes},
                {"data", arguments.data},
                {"parity", arguments.parity},
                {"spares", arguments.spares}});
  } else {
    fmt::print("created array {}\n{}+{}, {} for data; any {} may fail\n", uuid_text(uuid),
               arguments.data, arguments.parity, bytes_text(made.settings.bytes),
               count_text(arguments.parity, "member"));
  }
  return exit_ok;
}

CLI::Option* add_size(CLI::App& verb, const std::string& name, std::uint64_t& bytes,
                      const std::string& description) {
  return verb.add_option(name, bytes, description)->transform(CLI::AsSizeValue(false));
}

Result<int> grow_parity(const ArrayArguments& arguments, const std::string& path, bool is_forced) {
  if (arguments.place.members.empty())
    return invalid("no member given; list the members of an array that is not being served");
  CALPE_TRY([[maybe_unused]] const auto checked,
            check_request(arguments.place,
                          {{"do", "grow-parity"}, {"path", path}, {"force", is_forced}}));
  CALPE_TRY(const std::unique_ptr<FileMembers> members,
            FileMembers::open(arguments.place.members, MemberAccess::write));
  members->use_uring();
  const std::optional<unsigned> known = members->slot_of(path);  // a spare of the array
  // Check again: now the members are locked.
  if (!is_forced && !known) CALPE_CHECK(array::check_blank(path));
  CALPE_TRY(const unsigned place, known ? Result<unsigned>(*known) : members->add(path));
  CALPE_CHECK(array::grow_parity_exclusively(*members, place));
  array::OwnLease lease;
  CALPE_TRY(const auto array, array::open_exclusively(*members, lease));
  Progress bar("computing the new parity");
  const std::uint64_t chunk = array->settings().chunk_bytes;
  while (true) {
    CALPE_TRY(const auto step, array->rebuild_step(std::uint64_t{8} << 20U));
    bar.update(step.stripes_done * chunk, step.stripes * chunk);
    if (step.is_complete) break;
  }
  bar.end();
  const array::Settings settings = array->settings();
  CALPE_CHECK(array->close());
  if (arguments.json) {
    print_json({{"data", settings.spec.data_shards}, {"parity", settings.spec.parity_shards}});
  } else {
    fmt::print("added parity: the array is now {}+{}; any {} may fail\n", settings.spec.data_shards,
               settings.spec.parity_shards, count_text(settings.spec.parity_shards, "member"));
  }
  return exit_ok;
}

}  // namespace

void add_array_create(CLI::App& array, int& exit_code) {
  auto arguments = std::make_shared<CreateArguments>();
  CLI::App* const verb = add_array_verb(
      array, arguments->array, "create",
      "Create an array from files or disks\n\n"
      "Refuses files and disks that are not empty, unless --force is given.",
      "Example: calpe array create --data 4 --parity 2 --member-size 1G m0 m1 m2 m3 m4 m5\n"
      "Example: calpe array create --data 8 --parity 3 --spares 1 /dev/disk/by-id/ata-*");
  verb->add_option("members", arguments->array.place.members,
                   "Files or block devices: members first, then spares")
      ->type_name("FILE")
      ->required();
  verb->add_option("--data", arguments->data, "Data members, k")->required();
  verb->add_option("--parity", arguments->parity, "Parity members, m; any m members may fail")
      ->required();
  verb->add_option("--spares", arguments->spares, "Number of spares, the last N paths");
  add_size(*verb, "--member-size", arguments->member_bytes,
           "Size of member files to create, such as 10G");
  add_size(*verb, "--size", arguments->bytes, "Capacity of the array (default: as much as fits)");
  verb->add_option("--chunk", arguments->chunk_bytes,
                   "Chunk: bytes of a stripe on one member (default: 64K)")
      ->transform(CLI::AsSizeValue(false));
  add_size(*verb, "--log", arguments->log_bytes,
           "Log size on each member (default: chosen by capacity)");
  verb->add_flag("--force", arguments->force, "WARNING: erase the data on the given disks");
  verb->add_flag("--json", arguments->array.json, "Print JSON");
  verb->callback([arguments, &exit_code] {
    exit_code = run_array_verb(arguments->array, [&] { return create(*arguments); });
  });
}

void add_array_grow_parity(CLI::App& array, int& exit_code) {
  auto arguments = std::make_shared<ArrayArguments>();
  auto path = std::make_shared<std::string>();
  CLI::App* const verb =
      add_array_verb(array, *arguments, "grow-parity",
                     "Add a parity member, so that one more may fail\n\n"
                     "The array must not be served. If it is interrupted, calpe array rebuild "
                     "resumes it.",
                     "Example: calpe array grow-parity --new /dev/sdz m0 m1 m2 m3 m4 m5");
  verb->add_option("members", arguments->place.members, "Members and spares of the array")
      ->type_name("FILE")
      ->required();
  verb->add_option("--new", *path, "New file or disk, at least as large as a member")
      ->type_name("FILE")
      ->required();
  auto is_forced = std::make_shared<bool>(false);
  verb->add_flag("--force", *is_forced, "WARNING: erase the data on the new disk");
  verb->add_flag("--json", arguments->json, "Print JSON");
  verb->callback([arguments, path, is_forced, &exit_code] {
    exit_code =
        run_array_verb(*arguments, [&] { return grow_parity(*arguments, *path, *is_forced); });
  });
}

}  // namespace calpe::tools
