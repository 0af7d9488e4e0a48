// SPDX-License-Identifier: Apache-2.0
#include "backend/openmp/build.hpp"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "base/dump.hpp"
#include "base/text.hpp"
#include "kernel_cache/identity.hpp"

namespace calpe::backend::openmp {

namespace {

// Removes the path of the temporary directory from compiler output.
std::string without_folder(std::string output, const std::string& folder) {
  const std::string prefix = folder + "/";
  for (std::size_t at = output.find(prefix); at != std::string::npos; at = output.find(prefix, at))
    output.erase(at, prefix.size());
  return output;
}

}  // namespace

Build::Build(std::shared_ptr<Workplace> workplace, std::string source, KernelRef generic,
             const SampleShape& shape)
    : workplace_(std::move(workplace)),
      source_(std::move(source)),
      content_(kernel::content({.target = "openmp",
                                .compiler = workplace_->compiler.identity,
                                .flags = workplace_->flags,
                                .source = source_})),
      generic_(std::move(generic)),
      shape_(shape) {}

Build::Build(std::string reason) : reason_(std::move(reason)), phase_(Phase::failed) {}

bool Build::advance() noexcept {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || is_settled()) return false;
  try {
    return step();
  } catch (const std::exception& error) {  // out of memory
    running_.reset();
    fail(error.what());
    return false;
  }
}

void Build::finish() {
  while (!is_settled()) {
    advance();
    if (!is_settled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool Build::step() {
  if (!running_) start();
  if (running_) {
    if (const std::optional<ExitStatus> status = running_->process.poll()) read_object(*status);
  }
  return phase() == Phase::compiled;
}

void Build::start() {
  if (!has_asked_disk_ && workplace_->disk) {
    if (const auto object = workplace_->disk->find(content_)) return use(*object);
  }
  has_asked_disk_ = true;
  std::optional<Slot> slot = Slot::take(workplace_);
  if (!slot) return;
  Result<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder) return fail(folder.error().message);
  const std::string source = folder->path() + "/kernel.c";
  if (const Status written = replace_file(source, source_); !written) {
    return fail(written.error().message);
  }
  std::vector<std::string> command = {workplace_->compiler.path};
  command.insert(command.end(), workplace_->flags.begin(), workplace_->flags.end());
  command.insert(command.end(), {"-o", folder->path() + "/kernel.so", source});
  dump("openmp.c", source_);
  // Files of a killed compiler are removed with the directory.
  Result<Subprocess> process =
      Subprocess::start(command, workplace_->time_limit, {"TMPDIR=" + folder->path()});
  if (!process) return fail(process.error().message);
  running_.emplace(Running{
      .slot = *std::move(slot), .folder = *std::move(folder), .process = *std::move(process)});
  phase_.store(Phase::compiling, std::memory_order_release);
}

void Build::read_object(const ExitStatus& status) {
  const Running running = *std::exchange(running_, std::nullopt);
  const std::string output = without_folder(status.output, running.folder.path());
  dump("openmp.log", text(workplace_->compiler.path, " ", to_string(status), "\n", output));
  const Result<std::string> object = read_file(running.folder.path() + "/kernel.so");
  // The exit code is unknown, but the compiler may have succeeded: then the object is complete.
  const bool may_be_fine = status.is_success() || status.kind == ExitStatus::Kind::unknown;
  if (!may_be_fine || !object) {
    const std::string line = first_error(output);
    return fail(
        text(workplace_->compiler.path, " ", to_string(status), line.empty() ? "" : ": ", line));
  }
  use(*object);
  if (phase() == Phase::compiled && workplace_->disk) {
    // A full disk costs only the next process a compilation.
    static_cast<void>(workplace_->disk->put(content_, *object).has_value());
  }
}

void Build::use(std::string_view object) {
  Result<LoadedObject> loaded = LoadedObject::load(object, function_name, workplace_->threads > 1);
  if (!loaded) return fail(loaded.error().message);
  const Status checked = check_first_use(loaded->function(), workplace_->threads,
                                         *workplace_->generic, *generic_, shape_);
  if (!checked) return fail(checked.error().message);
  object_.emplace(*std::move(loaded));
  function_.store(object_->function(), std::memory_order_release);
  phase_.store(Phase::compiled, std::memory_order_release);
}

void Build::fail(std::string reason) {
  dump("openmp.error", reason);
  reason_ = std::move(reason);
  phase_.store(Phase::failed, std::memory_order_release);
}

}  // namespace calpe::backend::openmp
