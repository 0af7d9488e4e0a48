// SPDX-License-Identifier: Apache-2.0
// The places of a command: which are reachable, how fast they answer, and work on all of them at
// once.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "remote/place/place.hpp"

namespace calpe::remote {

struct UsedPlace {
  std::unique_ptr<Place> place;
  bool is_preferred = false;
  std::string why_down = {};  // empty: reachable
  unsigned slowness = 0;      // grows with the time of the first answer; preferred places have 0
  std::vector<ListedObject> top = {};  // objects at the top when it was listed
};

class Places {
 public:
  explicit Places(std::vector<UsedPlace> places) : places_(std::move(places)) {}

  std::size_t size() const noexcept { return places_.size(); }
  UsedPlace& operator[](std::size_t index) noexcept { return places_[index]; }
  const UsedPlace& operator[](std::size_t index) const noexcept { return places_[index]; }
  bool is_up(std::size_t index) const noexcept { return places_[index].why_down.empty(); }
  const std::string& label(std::size_t index) const noexcept {
    return places_[index].place->label();
  }

  // Runs `work` for every reachable place, side by side (base/threads.hpp). Results by place; those
  // that are down have their error.
  std::vector<Status> on_each(const std::function<Status(std::size_t index)>& work);
  // The same, but fails with the first error.
  Status on_all(const std::function<Status(std::size_t index)>& work);

  // Lists the top of every place and measures how long that takes. Places that fail are down.
  // Fails with io if no place answers.
  Status list_tops();
  // Marks a place as down.
  void take_down(std::size_t index, std::string why) { places_[index].why_down = std::move(why); }
  // Fails with io and names the places that are down, if any.
  Status check_all_up() const;

 private:
  std::vector<UsedPlace> places_;
};

}  // namespace calpe::remote
