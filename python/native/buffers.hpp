// SPDX-License-Identifier: Apache-2.0
// Shards that Python's objects hold, borrowed through the buffer protocol and never copied.
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <calpe/codec.hpp>

#include "native/failure.hpp"

namespace calpe::python {

// What a call was given as shards, held until this is destroyed: an owner can neither free nor
// resize it meanwhile, whatever other threads do. Made and destroyed with the interpreter's lock.
//
// `shards` is a sequence of objects with contiguous buffers, or one buffer of two or more
// dimensions whose rows are contiguous: its rows are the shards. What the items of a buffer mean is
// not looked at, but that they are no Python objects. Throws Failure (invalid_argument) or a
// TypeError that names the operand as `name`[i].
template <class View>  // ConstShard, or Shard: those must be writable
class HeldShards {
 public:
  HeldShards(py::handle shards, std::string_view name);
  // The same, where entries may be None: see missing().
  static HeldShards with_missing(py::handle shards, std::string_view name);
  // One buffer, such as a delta.
  static HeldShards one(py::handle buffer, std::string_view name);
  HeldShards(HeldShards&&) noexcept = default;
  HeldShards(const HeldShards&) = delete;
  HeldShards& operator=(const HeldShards&) = delete;
  HeldShards& operator=(HeldShards&&) = delete;
  ~HeldShards();

  const std::vector<View>& get() const noexcept { return shards_; }
  const std::vector<ShardIndex>& missing() const noexcept { return missing_; }
  std::size_t first_bytes() const noexcept { return shards_.empty() ? 0 : shards_[0].size(); }

 private:
  HeldShards() = default;
  const Py_buffer& hold(py::handle object, const std::string& operand);
  void take(py::handle shards, std::string_view name, bool may_miss);
  void take_one(py::handle object, const std::string& operand);
  void take_rows(py::handle object, const std::string& operand);
  void take_each(py::handle sequence, std::string_view name, bool may_miss);
  static constexpr bool is_written = !std::is_const_v<typename View::element_type>;

  std::vector<Py_buffer> held_;  // never moved: some exporters point into the structure
  std::vector<View> shards_;
  std::vector<ShardIndex> missing_;
};

using InputShards = HeldShards<ConstShard>;
using OutputShards = HeldShards<Shard>;

// New shards of `bytes` each, not initialised: a list of bytearray.
py::list new_shards(std::size_t count, std::size_t bytes);
py::object new_shard(std::size_t bytes);

}  // namespace calpe::python
