// SPDX-License-Identifier: Apache-2.0
// Hostile manifests: a manifest that parse_manifest() accepts follows every rule of docs/format.md,
// checked here independently, and prints to the same bytes. The input is a flag, two bytes for the
// end of the data, then the manifest without its checksum, which is corrected.
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "base/little_endian.hpp"
#include "fuzz/property.hpp"
#include "store/format/block_checksum.hpp"
#include "store/format/manifest.hpp"

namespace calpe::fuzz {

namespace {

constexpr std::uint8_t flag_checksum_as_it_is = 1;
constexpr std::uint8_t flag_digests = 2;
constexpr std::size_t start_bytes = 3;

void check_path(std::string_view path) {
  require(path.find('\0') == std::string_view::npos, "a path has no byte 0");
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    require(!part.empty() && part != "." && part != "..", "a path stays below its directory");
    at = end + 1;
  }
}

using Pieces = std::map<std::uint64_t, std::uint64_t>;  // of the content: begin, end

void check_extents(const store::Entry& entry, std::uint64_t data_bytes, Pieces& pieces) {
  std::uint64_t end = 0;
  for (const store::Extent& extent : entry.extents) {
    require(extent.bytes > 0 && extent.file_offset >= end, "extents ascend");
    end = extent.file_offset + extent.bytes;
    require(end > extent.file_offset && end <= entry.file_bytes, "an extent is in its file");
    const std::uint64_t content_end = extent.content_offset + extent.bytes;
    require(content_end > extent.content_offset && content_end <= data_bytes,
            "an extent is in the data");
    const auto next = pieces.lower_bound(extent.content_offset);
    require(next == pieces.end() || content_end <= next->first, "extents do not overlap");
    require(next == pieces.begin() || std::prev(next)->second <= extent.content_offset,
            "extents do not overlap");
    pieces.emplace(extent.content_offset, content_end);
  }
}

void check_rules(const store::Manifest& manifest, std::uint64_t data_bytes) {
  std::set<std::string_view> folders;
  std::set<std::string_view> paths;
  Pieces pieces;
  for (const store::Entry& entry : manifest.entries) {
    const bool is_stream = entry.type == store::EntryType::stream;
    const bool is_folder = entry.type == store::EntryType::folder;
    const bool is_root = is_folder && entry.path.empty() && paths.empty();
    require(!is_stream || (manifest.entries.size() == 1 && entry.path.empty()), "a stream");
    if (!is_stream && !is_root) check_path(entry.path);
    require(paths.insert(entry.path).second, "no path occurs twice");
    const std::size_t slash = entry.path.rfind('/');
    require(slash == std::string::npos ||
                folders.contains(std::string_view(entry.path).substr(0, slash)),
            "the directory comes first");
    if (is_folder) folders.insert(entry.path);
    const bool is_link = entry.type == store::EntryType::link;
    require(entry.target.empty() != is_link, "links have a target");
    require(entry.target.find('\0') == std::string::npos, "a target has no byte 0");
    require((!is_folder && !is_link) || (entry.file_bytes == 0 && entry.extents.empty()),
            "directories and links have no data");
    require(entry.digest == 0 || (!is_folder && !is_link), "digest");
    require(entry.mode <= 07777 && entry.nanoseconds < 1'000'000'000, "mode and time");
    check_extents(entry, data_bytes, pieces);
  }
}

void run(std::span<const std::uint8_t> input) {
  if (input.size() < start_bytes) return;
  const std::uint64_t data_bytes = input[1] | std::uint64_t{input[2]} << 8U;
  const auto given = std::as_bytes(input.subspan(start_bytes));
  std::vector<std::byte> bytes(given.begin(), given.end());
  if ((input[0] & flag_checksum_as_it_is) == 0) {
    const std::uint64_t checksum = store::plain_checksum(bytes);
    bytes.resize(bytes.size() + sizeof checksum);
    store_little(bytes.data() + bytes.size() - sizeof checksum, checksum);
  }
  const bool has_digests = (input[0] & flag_digests) != 0;
  const auto manifest = store::parse_manifest(bytes, data_bytes, has_digests);
  if (!manifest) {
    require(manifest.error().code == ErrorCode::corrupt, "a bad manifest is corrupt");
    return;
  }
  require(manifest->has_digests == has_digests, "a manifest is of the expected version");
  check_rules(*manifest, data_bytes);
  require(store::to_bytes(*manifest) == bytes, "a parsed manifest prints to the same bytes");
}

}  // namespace

}  // namespace calpe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calpe::fuzz::run({data, size});
  return 0;
}
