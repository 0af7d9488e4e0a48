// SPDX-License-Identifier: Apache-2.0
// Shards in Python objects, borrowed through the buffer protocol or DLPack and never copied.
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <calpe/codec.hpp>

#include "native/failure.hpp"

namespace calpe::python {

// Holds the shards passed to a call until it is destroyed. Until then no thread can free or resize
// them. Create and destroy it with the interpreter lock held.
//
// `shards` is a sequence of objects with contiguous buffers, or one buffer of two or more
// dimensions whose contiguous rows are the shards. Items may have any type except Python objects.
// Objects without a buffer may have __dlpack__ and memory of the CPU (tensor_bytes.hpp).
// Throws Failure (invalid_argument) or a TypeError that names the operand as `name`[i].
template <class View>  // ConstShard, or Shard for writable buffers
class HeldShards {
 public:
  HeldShards(py::handle shards, std::string_view name);
  // Allows entries that are None; see missing().
  static HeldShards with_missing(py::handle shards, std::string_view name);
  // Holds one buffer, such as a delta.
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

  std::vector<Py_buffer> held_;  // never moved, because some exporters point into it
  std::vector<View> shards_;
  std::vector<ShardIndex> missing_;
};

using InputShards = HeldShards<ConstShard>;
using OutputShards = HeldShards<Shard>;

// Returns an object with the buffer protocol: `object` itself, or the memory of its tensor.
py::object buffer_source(py::handle object, const std::string& operand);

// Creates a list of bytearray, uninitialised, of `bytes` each.
py::list new_shards(std::size_t count, std::size_t bytes);
py::object new_shard(std::size_t bytes);

}  // namespace calpe::python
