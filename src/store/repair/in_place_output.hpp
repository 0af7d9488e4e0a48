// SPDX-License-Identifier: Apache-2.0
// Restores originals in place.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "store/read/in_place_check.hpp"
#include "store/tree/tree.hpp"

namespace calpe::store {

// Writes the files in `states`, of which many may be unfinished at a time. Each gets its name when
// it is complete; an existing one keeps owner and mode. Creates missing directories. Never writes
// outside `original`. All functions fail with io. What is not finished is removed.
class OriginalOutput {
 public:
  // `manifest` and `states` must outlive it.
  static Result<OriginalOutput> open(const Manifest& manifest,
                                     std::span<const OriginalState> states,
                                     const std::string& original);
  OriginalOutput(OriginalOutput&&) noexcept;
  ~OriginalOutput();

  // Call first: creates directories and files without data.
  Status begin();
  // False for entries that are not in `states`, and that were dropped.
  bool is_wanted(std::size_t entry) const;
  // Each byte of the extents of each wanted file once, in any order. `offset`: in the file.
  Status write(std::size_t entry, std::uint64_t offset, std::span<const std::byte> bytes);
  // Gives up a file, which stays as it was.
  void drop(std::size_t entry);
  Status finish();

 private:
  struct Impl;
  explicit OriginalOutput(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A file with the name of a directory, or the reverse. A repair replaces neither.
struct InTheWay {
  std::vector<std::string> paths = {};  // on disk
  std::set<std::size_t> entries = {};   // that cannot be put back
};
// Fails with io.
Result<InTheWay> find_in_the_way(const Manifest& manifest, std::span<const OriginalState> states,
                                 const std::string& original);

// Removes the temporary files of a put_back() that was interrupted. Fails with io.
Status remove_restore_leftovers(const Manifest& manifest, const std::string& original);

}  // namespace calpe::store
