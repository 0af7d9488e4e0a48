// SPDX-License-Identifier: Apache-2.0
// Places in memory that a test can kill, lose, roll back and damage.
#pragma once
#include <array>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "remote/set/change_lock.hpp"

namespace calpe::remote {

using Objects = std::map<std::string, std::vector<std::byte>>;

// What all places hold, and when the command is killed.
struct World {
  explicit World(std::size_t count) : places(count) {}
  World(const World& other) : places(other.places) {}

  // The process of a killed command is the one of the test, so its mark has to be named.
  void revive() {
    is_dead = false;
    was_killed = true;
    killed_at = -1;
  }

  std::vector<Objects> places;
  std::mutex mutex = {};
  long changes = 0;              // puts and removes so far
  long killed_at = -1;           // the change that never returns; -1: none
  bool is_killed_after = false;  // that change is still made
  bool is_dead = false;
  bool was_killed = false;
};

inline std::vector<std::uint64_t> marks_on(const World& world) {
  std::vector<std::uint64_t> marks;
  for (const Objects& place : world.places) {
    for (const auto& [name, bytes] : place) {
      const auto top = parse_top_name(name);
      if (top && top->mark) marks.push_back(*top->mark);
    }
  }
  return marks;
}

// Takes over what killed commands left.
inline ChangeOptions change_of(const World& world) {
  ChangeOptions options = {.verb = "test"};
  if (world.was_killed) options.taken_over = marks_on(world);
  return options;
}

// Interleaves two commands: the first makes some operations, then the second makes some, then the
// first runs to its end, and then the second.
class Turns {
 public:
  Turns(long first, long second) : limits_{first, second} {}

  // Called before each operation.
  void wait(std::size_t command) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return turn_ == command || has_ended_[1 - command]; });
      if (phase_ != command || done_[command] != limits_[command] || has_ended_[1 - command]) break;
      ++phase_;
      turn_ = 1 - command;
      changed_.notify_all();
    }
    ++done_[command];
  }
  void end(std::size_t command) {
    const std::lock_guard lock(mutex_);
    has_ended_[command] = true;
    turn_ = 1 - command;
    changed_.notify_all();
  }
  long operations_of(std::size_t command) const { return done_[command]; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<long, 2> limits_;
  std::array<long, 2> done_ = {0, 0};
  std::array<bool, 2> has_ended_ = {false, false};
  std::size_t phase_ = 0;
  std::size_t turn_ = 0;
};

class MemoryPlace final : public Place {
 public:
  MemoryPlace(World& world, std::size_t index, Turns* turns = nullptr, std::size_t command = 0)
      : world_(world),
        index_(index),
        label_(text("place", index)),
        turns_(turns),
        command_(command) {}

  const std::string& label() const noexcept override { return label_; }

  Result<std::vector<ListedObject>> list(const std::string& folder) override {
    wait();
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
    wait();
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

  void wait() {
    if (turns_ != nullptr) turns_->wait(command_);
  }

  template <class Work>
  Status change(const Work& work) {
    wait();
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
  Turns* turns_;
  std::size_t command_;
};

// The places of `world` except those in `lost`, a set of bits. Listed.
inline Places places_of(World& world, unsigned lost = 0, Turns* turns = nullptr,
                        std::size_t command = 0) {
  std::vector<UsedPlace> used;
  for (std::size_t index = 0; index < world.places.size(); ++index) {
    if ((lost >> index & 1U) == 0)
      used.push_back({.place = std::make_unique<MemoryPlace>(world, index, turns, command)});
  }
  Places places(std::move(used));
  (void)places.list_tops();
  return places;
}

}  // namespace calpe::remote
