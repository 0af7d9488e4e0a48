// SPDX-License-Identifier: Apache-2.0
// Structures of the DLPack standard, versions 0 and 1, as far as a reader of CPU memory needs them.
// Names and layout are those of the standard, with C linkage in mind.
#pragma once
#include <cstdint>

namespace calpe::python::dlpack {

enum DeviceType : std::int32_t {
  cpu = 1,
  cuda_host = 3,
  rocm_host = 11
};  // pinned memory is host's

struct Device {
  std::int32_t type;
  std::int32_t id;
};

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t dimensions;
  DataType type;
  const std::int64_t* shape;
  const std::int64_t* strides;  // in items; nullptr: contiguous
  std::uint64_t byte_offset;
};

// In a capsule named "dltensor".
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed* self);
};

// In a capsule named "dltensor_versioned".
struct Versioned {
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(Versioned* self);
  std::uint64_t flags;
  Tensor tensor;
};

constexpr std::uint32_t major_known = 1;
constexpr std::uint64_t flag_read_only = 1;
constexpr std::uint64_t flag_copied = 2;  // what is written there does not reach the tensor

}  // namespace calpe::python::dlpack
