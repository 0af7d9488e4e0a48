// SPDX-License-Identifier: Apache-2.0
#include "remote/place/rclone_place.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/env.hpp"
#include "base/printable.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/place/child_process.hpp"

namespace calpe::remote {

namespace {

// Exit codes of rclone.
constexpr int no_directory = 3;
constexpr int no_file = 4;

constexpr std::size_t listing_bytes_max = std::size_t{256} << 20U;

// rclone limits and repeats its own requests, so this is only for a hung one: ten times the limit
// of a request to S3, and longer for an upload, whose progress does not show.
constexpr unsigned requests_max = 10;
constexpr std::size_t upload_bytes_per_second_min = 16384;

class RclonePlace final : public Place {
 public:
  RclonePlace(std::string program, std::string label, std::string root, unsigned timeout_s)
      : program_(std::move(program)),
        label_(std::move(label)),
        root_(std::move(root)),
        time_limit_(std::chrono::seconds(timeout_s) * requests_max) {}

  const std::string& label() const noexcept override { return label_; }

  std::string identity() const override {
    std::string_view root = root_;
    while (root.ends_with('/'))
      root.remove_suffix(1);
    return text("rclone:", root);
  }

  Result<std::vector<ListedObject>> list(const std::string& folder) override {
    CALPE_TRY(const ChildResult done,
              run({"lsf", "--files-only", "--format", "sp", "--separator", " ", path_of(folder)},
                  {}, listing_bytes_max, {no_directory}));
    std::vector<ListedObject> objects;
    if (done.exit_code == no_directory) return objects;
    std::string_view rest(reinterpret_cast<const char*>(done.output.data()), done.output.size());
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest = rest.substr(std::min(end + 1, rest.size()));
      const std::size_t space = line.find(' ');
      ListedObject object;
      const auto parsed =
          std::from_chars(line.data(), line.data() + std::min(space, line.size()), object.bytes);
      if (space == std::string_view::npos || parsed.ec != std::errc())
        continue;  // a size of -1: a document without a size, never ours
      object.name = line.substr(space + 1);
      objects.push_back(std::move(object));
    }
    return objects;
  }

  Status read(const std::string& name, std::span<std::byte> bytes, std::uint64_t offset) override {
    if (bytes.empty()) return Done{};
    CALPE_TRY(const ChildResult done, run({"cat", "--offset", std::to_string(offset), "--count",
                                           std::to_string(bytes.size()), path_of(name)},
                                          {}, bytes.size(), {}));
    if (done.output.size() != bytes.size()) {
      return make_error(ErrorCode::io, label_, ": ", name, ": got ", done.output.size(),
                        " bytes; expected ", bytes.size());
    }
    std::memcpy(bytes.data(), done.output.data(), bytes.size());
    return Done{};
  }

  // If we are killed, rclone finishes the upload of the whole object. rcat would store what a pipe
  // has, even less than its --size. copyto compares the checksum of the remote, where it has one.
  // --copy-links: /proc has a link to the file; --ignore-times: replace a damaged object of the
  // same size.
  Status put(const std::string& name, std::span<const std::byte> bytes) override {
    CALPE_TRY([[maybe_unused]] const ChildResult done,
              run({"copyto", "--copy-links", "--ignore-times", "--no-traverse", child_input_path,
                   path_of(name)},
                  bytes, 4096, {}));
    return check_size(name, bytes.size());
  }

  Status remove(const std::string& name) override {
    CALPE_TRY([[maybe_unused]] const ChildResult done,
              run({"deletefile", path_of(name)}, {}, 4096, {no_directory, no_file}));
    return Done{};
  }

 private:
  std::string path_of(const std::string& name) const {
    if (name.empty()) return root_;
    return root_.ends_with(':') || root_.ends_with('/') ? root_ + name : root_ + "/" + name;
  }

  // rclone reports some failed uploads only in its log, so ask the remote.
  Status check_size(const std::string& name, std::uint64_t bytes) {
    CALPE_TRY(const ChildResult done, run({"lsf", "--format", "s", path_of(name)}, {}, 4096, {}));
    const std::string got(reinterpret_cast<const char*>(done.output.data()), done.output.size());
    if (got == std::to_string(bytes) + "\n") return Done{};
    return make_error(ErrorCode::io, label_, ": ", name, " has another size after its upload: \"",
                      printable(got), "\"; expected ", bytes);
  }

  Result<ChildResult> run(std::vector<std::string> arguments, std::span<const std::byte> input,
                          std::size_t output_bytes_max, std::initializer_list<int> accepted) {
    const std::string verb = arguments.front();
    arguments.insert(arguments.begin(), program_);
    const std::chrono::seconds upload(input.size() / upload_bytes_per_second_min);
    Result<ChildResult> done = run_child(arguments, input, output_bytes_max, time_limit_ + upload);
    if (!done) return make_error(ErrorCode::io, label_, ": ", done.error().message);
    const int code = done->exit_code;
    if (code == 0 || std::find(accepted.begin(), accepted.end(), code) != accepted.end())
      return done;
    return make_error(ErrorCode::io, label_, ": rclone ", verb, " failed with exit code ", code,
                      ": ", printable(last_line(done->errors)));
  }

  static std::string last_line(std::string_view words) {
    while (words.ends_with('\n'))
      words.remove_suffix(1);
    return std::string(words.substr(words.rfind('\n') + 1));  // npos + 1 is 0
  }

  std::string program_;
  std::string label_;
  std::string root_;
  std::chrono::seconds time_limit_;
};

}  // namespace

Result<std::unique_ptr<Place>> rclone_place(const std::string& location,
                                            const PlaceOptions& options) {
  const std::string root = location.substr(std::string_view("rclone:").size());
  // Without a remote, rclone takes the path for a local one, and a dash for an option.
  if (root.find(':') == std::string::npos || root.starts_with('-'))
    return invalid(printable(location), ": no remote; expected rclone:REMOTE:PATH");
  if (is_privileged()) {
    return make_error(ErrorCode::backend_unavailable,
                      "a privileged process does not run rclone; start calpe as the user");
  }
  const auto program = find_program("rclone");
  if (!program) {
    return make_error(ErrorCode::backend_unavailable, printable(location),
                      ": there is no program rclone; install it, or use s3:// or a directory");
  }
  return std::unique_ptr<Place>(
      std::make_unique<RclonePlace>(*program, location, root, options.timeout_s));
}

}  // namespace calpe::remote
