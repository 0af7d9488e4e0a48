// SPDX-License-Identifier: Apache-2.0
// Places in memory that a test can kill, lose, roll back and damage.
#pragma once
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "remote/set/places.hpp"

namespace calpe::remote {

using Objects = std::map<std::string, std::vector<std::byte>>;

// What all places hold, and when the command is killed.
struct World {
  explicit World(std::size_t count) : places(count) {}
  World(const World& other) : places(other.places) {}

  std::vector<Objects> places;
  std::mutex mutex = {};
  long changes = 0;              // puts and removes so far
  long killed_at = -1;           // the change that never returns; -1: none
  bool is_killed_after = false;  // that change is still made
  bool is_dead = false;
};

class MemoryPlace final : public Place {
 public:
  MemoryPlace(World& world, std::size_t index)
      : world_(world), index_(index), label_(text("place", index)) {}

  const std::string& label() const noexcept override { return label_; }

  Result<std::vector<ListedObject>> list(const std::string& folder) override {
    const std::lock_guard lock(world_.mutex);
    if (world_.is_dead) return dead();
    std::vector<ListedObject> found;
    for (const auto& [name, bytes] : objects()) {
      const std::size_t slash = name.find('/');
      const std::string in = slash == std::string::npos ? "" : name.substr(0, slash);
      if (in == folder)
        found.push_back({slash == std::string::npos ? name : name.substr(slash + 1), bytes.size()});
    }
    return found;
  }

  Status read(const std::string& name, std::span<std::byte> bytes, std::uint64_t offset) override {
    const std::lock_guard lock(world_.mutex);
    if (world_.is_dead) return dead();
    const auto found = objects().find(name);
    if (found == objects().end() || found->second.size() < offset + bytes.size())
      return make_error(ErrorCode::io, label_, ": no ", name);
    std::memcpy(bytes.data(), found->second.data() + offset, bytes.size());
    return Done{};
  }

  Status put(const std::string& name, std::span<const std::byte> bytes) override {
    return change([&] { objects()[name] = {bytes.begin(), bytes.end()}; });
  }

  Status remove(const std::string& name) override {
    return change([&] { objects().erase(name); });
  }

 private:
  Objects& objects() { return world_.places[index_]; }
  Error dead() const { return make_error(ErrorCode::io, label_, ": killed"); }

  template <class Work>
  Status change(const Work& work) {
    const std::lock_guard lock(world_.mutex);
    if (world_.is_dead) return dead();
    const bool is_last = world_.changes++ == world_.killed_at;
    if (!is_last || world_.is_killed_after) work();
    world_.is_dead = is_last;
    if (is_last) return dead();
    return Done{};
  }

  World& world_;
  std::size_t index_;
  std::string label_;
};

// The places of `world` except those in `lost`, a set of bits. Listed.
inline Places places_of(World& world, unsigned lost = 0) {
  std::vector<UsedPlace> used;
  for (std::size_t index = 0; index < world.places.size(); ++index) {
    if ((lost >> index & 1U) == 0)
      used.push_back({.place = std::make_unique<MemoryPlace>(world, index)});
  }
  Places places(std::move(used));
  (void)places.list_tops();
  return places;
}

}  // namespace calpe::remote
