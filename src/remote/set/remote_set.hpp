// SPDX-License-Identifier: Apache-2.0
// Finds sets, their generations and the objects of their segments on places.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "remote/format/generation_object.hpp"
#include "remote/format/object_names.hpp"
#include "remote/set/places.hpp"

namespace calpe::remote {

// An object that has the same name on several places.
struct NumberedCopies {
  std::uint64_t number = 0;
  struct Copy {
    std::size_t place = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Copy> copies = {};
};
using GenerationCopies = NumberedCopies;
using MarkCopies = NumberedCopies;  // of a command that changes the set

// A set without generations was begun and never completed.
struct RemoteSet {
  Uuid uuid = {};
  std::vector<GenerationCopies> generations = {};  // ascending
  std::vector<std::size_t> begun = {};             // places that have the mark of a begun set
  std::vector<MarkCopies> marks = {};

  const GenerationCopies* find(std::uint64_t number) const noexcept;
};

// From the last list_tops(). Sorted by uuid.
std::vector<RemoteSet> sets_on(const Places& places);
// The set with this uuid, listed again.
Result<RemoteSet> list_set_again(Places& places, const Uuid& uuid);

// Reads a generation from the fastest place with a good copy. Fails with corrupt and names the
// places if no copy is good: an older generation is never used instead.
Result<Generation> load_generation(Places& places, const RemoteSet& set,
                                   const GenerationCopies& copies);
// All generations of a set, ascending.
Result<std::vector<Generation>> load_generations(Places& places, const RemoteSet& set);

// The objects of a set's segments on all places, by name and size.
class Catalogue {
 public:
  struct Entry {
    Digest segment = {};
    ShardIndex shard = 0;
    std::uint16_t place = 0;
    std::uint64_t bytes = 0;
  };
  // Lists all reachable places. A place that fails is taken down, unless `needs_all`.
  static Result<Catalogue> load(Places& places, const Uuid& uuid, bool needs_all);

  // Removes an object whose bytes are known to be wrong.
  void drop(const Digest& segment, ShardIndex shard, std::size_t place);
  bool has(const Digest& segment, ShardIndex shard, std::size_t place,
           std::uint64_t bytes) const noexcept;
  // Objects of one segment, in the order of shards.
  std::span<const Entry> of(const Digest& segment) const noexcept;
  std::span<const Entry> entries() const noexcept { return entries_; }

 private:
  std::vector<Entry> entries_;  // sorted
};

}  // namespace calpe::remote
