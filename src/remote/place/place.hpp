// SPDX-License-Identifier: Apache-2.0
// A place keeps objects under names: a directory, a bucket, or anything that rclone can reach. Four
// operations are enough, so that each kind of place is small and tests can replace it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <calpe/result.hpp>

namespace calpe::remote {

struct ListedObject {
  std::string name;  // without the folder
  std::uint64_t bytes = 0;
};

// Names are "a" or "folder/a", from letters, digits, '.' and '-'. Errors are io and begin with the
// label. One call at a time for each place; different places may be used in parallel.
class Place {
 public:
  virtual ~Place() = default;
  virtual const std::string& label() const noexcept = 0;  // as the user gave it
  // Equal for two places only if they are the same one, as far as that is known without a request.
  virtual std::string identity() const { return label(); }
  // Objects directly in this folder ("": the top), in any order. A folder without objects is empty.
  virtual Result<std::vector<ListedObject>> list(const std::string& folder) = 0;
  // Fills `bytes` from the offset. Fails if the object is missing or too short.
  virtual Status read(const std::string& name, std::span<std::byte> bytes,
                      std::uint64_t offset) = 0;
  // Writes or replaces an object as a whole. When it returns, the object is durable. After an error
  // or a crash, readers see the whole object, the one before, or none.
  virtual Status put(const std::string& name, std::span<const std::byte> bytes) = 0;
  virtual Status remove(const std::string& name) = 0;  // succeeds if there is no such object
};

}  // namespace calpe::remote
