// SPDX-License-Identifier: Apache-2.0
// Small sets on places in memory, and the commands that change them.
#pragma once
#include <bit>
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include "base/files.hpp"
#include "memory_places.hpp"
#include "remote/set/content_reader.hpp"
#include "remote/set/manifest_reader.hpp"
#include "remote/set/remote_check.hpp"
#include "remote/set/remote_write.hpp"

namespace calpe::remote {

inline constexpr unsigned data_shards = 2;
inline constexpr unsigned parity_shards = 2;
inline constexpr std::size_t place_count = data_shards + parity_shards;

// A source with two states. Some segments are equal in both.
class Source {
 public:
  Source() : folder_(TemporaryFolder::create()) { write("a", 'o', 3000); }

  const std::string& path() const { return folder_->path(); }
  void write(const std::string& name, char fill, std::size_t bytes) {
    std::string content;
    for (std::size_t i = 0; i < bytes; ++i)
      content += static_cast<char>(static_cast<unsigned char>(fill) + i % 7 + i / 256);
    write(name, content);
  }
  void write(const std::string& name, const std::string& content) {
    std::ofstream(path() + "/" + name, std::ios::binary) << content;
    files_[name] = content;
  }
  void make_old() { write("b", 'B', 700); }
  void make_new() {
    write("b", 'n', 900);
    write("c", 'C', 1500);
  }
  const std::map<std::string, std::string>& files() const { return files_; }

 private:
  Result<TemporaryFolder> folder_;
  std::map<std::string, std::string> files_;
};

inline ProtectOptions protect_options() {
  ProtectOptions options;
  options.spec = find_profile("default").value();
  options.spec.data_shards = data_shards;
  options.spec.parity_shards = parity_shards;
  options.block_bytes = 64;
  options.segment_bytes = 1024;
  options.name = "photos";
  return options;
}

using Files = std::map<std::string, std::string>;

// Files of the newest generation, or of the one given.
inline Result<Files> files_on(World& world, unsigned lost, std::uint64_t number = 0) {
  Places places = places_of(world, lost);
  const std::vector<RemoteSet> sets = sets_on(places);
  if (sets.empty() || sets.front().generations.empty()) return make_error(ErrorCode::io, "no set");
  const RemoteSet& set = sets.front();
  const GenerationCopies* copies = number == 0 ? &set.generations.back() : set.find(number);
  if (copies == nullptr) return make_error(ErrorCode::io, "no such generation");
  Result<Generation> generation = load_generation(places, set, *copies);
  if (!generation) return generation.error();
  Result<Catalogue> catalogue = Catalogue::load(places, set.uuid, false);
  Result<SegmentCoder> coder = SegmentCoder::make(generation->header);
  SegmentReader reader(places, *catalogue, *coder);
  Result<store::Manifest> manifest = read_manifest(reader, *generation);
  if (!manifest) return manifest.error();
  ContentReader content(reader, *generation, store::data_ranges(manifest->entries));
  Files files;
  for (const store::Entry& entry : manifest->entries) {
    if (entry.type != store::EntryType::file) continue;
    std::string& file = files[entry.path];
    file.resize(entry.file_bytes);
    for (const store::Extent& extent : entry.extents) {
      const auto bytes =
          std::as_writable_bytes(std::span(file)).subspan(extent.file_offset, extent.bytes);
      if (Status status = content.read(bytes, extent.content_offset); !status)
        return std::move(status).error();
    }
  }
  return files;
}

inline void for_each_loss(std::size_t most, const std::function<void(unsigned lost)>& check) {
  for (unsigned lost = 0; lost < 1U << place_count; ++lost) {
    if (static_cast<std::size_t>(std::popcount(lost)) <= most) check(lost);
  }
}

// A command, alone or as one of two that take turns.
struct Turn {
  Turns* turns = nullptr;
  std::size_t command = 0;
};

inline Places places_of(World& world, const Turn& turn) {
  return places_of(world, 0, turn.turns, turn.command);
}

inline Result<WriteReport> run_protect(World& world, const Source& source) {
  Places places = places_of(world);
  ProtectOptions options = protect_options();
  options.write.change = change_of(world);
  return protect_on_places(places, source.path(), options);
}

inline Result<WriteReport> run_update(World& world, const Source& source, std::size_t keep = 2,
                                      const Turn& turn = {}) {
  Places places = places_of(world, turn);
  const std::vector<RemoteSet> sets = sets_on(places);
  if (sets.empty() || sets.front().generations.empty()) return make_error(ErrorCode::io, "no set");
  UpdateOptions options;
  options.write.change = change_of(world);
  options.keep = keep;
  return update_on_places(places, sets.front(), source.path(), options);
}

inline Result<CheckReport> run_check(World& world, bool repairs, bool is_quick = false,
                                     const Turn& turn = {}) {
  Places places = places_of(world, turn);
  const std::vector<RemoteSet> sets = sets_on(places);
  if (sets.empty() || sets.front().generations.empty()) return make_error(ErrorCode::io, "no set");
  CheckOptions options;
  options.change = change_of(world);
  options.repairs = repairs;
  options.is_quick = is_quick;
  return check_on_places(places, sets.front(), options);
}

inline Result<Forgotten> run_forget(World& world, std::size_t keep, const Turn& turn = {}) {
  Places places = places_of(world, turn);
  const std::vector<RemoteSet> sets = sets_on(places);
  if (sets.empty()) return make_error(ErrorCode::io, "no set");
  return forget_older(places, sets.front().uuid, keep, change_of(world));
}

}  // namespace calpe::remote
