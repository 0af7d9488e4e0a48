// SPDX-License-Identifier: Apache-2.0
// Hostile shards: a good set in memory, changed as the input says, is found, read and repaired.
// Without corrected checksums, reads must return what was written. With them (the attacker knows
// the format) the bytes may be anything, but nothing may break.
//
// The input is a flag and changes of six bytes: shard, kind, offset (2), value (2).
#include <algorithm>
#include <span>
#include <vector>

#include "base/little_endian.hpp"
#include "files/damaged_set.hpp"
#include "fuzz/property.hpp"
#include "store/format/block_checksum.hpp"
#include "store/read/set_reader.hpp"
#include "store/read/verify_set.hpp"
#include "store/repair/repair_set.hpp"

namespace calpe::fuzz {

namespace {

using tests::Bytes;

constexpr std::uint8_t flag_checksums_put_right = 1;
constexpr std::uint8_t flag_roots = 2;
constexpr std::size_t change_bytes = 6;
const std::vector<std::string> folders = {"one", "two"};

tests::Original make_original(store::RootKind root_kind) {
  tests::Chance chance(1);
  return tests::protect_in_memory({CodeFamily::default_code, 3, 2, 64, 500, root_kind}, chance);
}

const tests::Original& original(bool has_roots) {
  static const tests::Original plain = make_original(store::RootKind::none);
  static const tests::Original rooted = make_original(store::RootKind::sha256);
  return has_roots ? rooted : plain;
}

struct Change {
  std::uint8_t shard, kind;
  std::uint16_t place, value;
};

void apply(const Change& change, std::vector<Bytes>& shards) {
  Bytes& shard = shards[change.shard % shards.size()];
  if (shard.empty()) return;
  const std::size_t place = change.place % shard.size();
  const std::size_t header_place = change.place % 736;  // all fields
  switch (change.kind % 6U) {
    case 0:
      shard[place] = static_cast<std::byte>(change.value);
      break;
    case 1:  // both headers
      if (shard.size() < 2 * store::header_bytes) return;
      shard[header_place] = static_cast<std::byte>(change.value);
      shard[shard.size() - store::header_bytes + header_place] =
          static_cast<std::byte>(change.value);
      break;
    case 2:
      shard.resize(place);
      break;
    case 3:
      shard.resize(shard.size() + change.value % 9000U);
      break;
    case 4:
      std::swap(shard, shards[change.value % shards.size()]);
      break;
    case 5:
      std::fill(shard.begin() + static_cast<std::ptrdiff_t>(place), shard.end(), std::byte{0});
      break;
  }
}

void put_right(Bytes& shard) {
  if (shard.size() < 2 * store::header_bytes) return;
  constexpr std::size_t checked = store::header_bytes - 8;
  for (const std::size_t at : {std::size_t{0}, shard.size() - store::header_bytes}) {
    const auto header = std::span(shard).subspan(at, store::header_bytes);
    const std::uint64_t checksum = store::plain_checksum(header.first(checked));
    store_little(header.data() + checked, checksum);
  }
  const auto header = store::parse_header(std::span(shard).first(store::header_bytes));
  if (!header) return;
  const store::Geometry geometry = store::geometry_of(*header);
  for (std::uint64_t stripe = 0; stripe < header->stripe_count; ++stripe) {
    const std::uint64_t block = geometry.block_offset(stripe);
    const std::uint64_t place = geometry.checksum_offset(stripe);
    if (block + header->block_bytes > shard.size() || place + 8 > shard.size()) return;
    const std::uint64_t checksum =
        store::block_checksum({header->uuid, header->generation, stripe, header->shard_index},
                              std::span(shard).subspan(block, header->block_bytes));
    store_little(shard.data() + place, checksum);
  }
}

// The result of read() is defined only if the headers found are ours.
void check_set(tests::BoundedFiles& files, const store::FoundSet& set,
               const tests::Original& original, bool is_honest) {
  auto reader = store::SetReader::open(files, set);
  if (!reader) return;
  const auto manifest = reader->manifest();
  // A hostile header may claim any size: read no more than ours.
  Bytes bytes(std::min<std::uint64_t>(reader->header().content_bytes, 4096));
  const auto done = reader->read(bytes, 0);
  if (is_honest && done.has_value()) {
    require(bytes == original.content, "reads return what was written");
  }
  const bool is_readable = done.has_value() && manifest.has_value();
  std::vector<store::ContentRange> lost;
  if (reader->salvage(bytes, 0, lost) && is_honest) {
    Bytes expected = original.content;
    for (const store::ContentRange& range : lost) {
      std::fill(expected.begin() + static_cast<std::ptrdiff_t>(range.begin),
                expected.begin() + static_cast<std::ptrdiff_t>(range.end), std::byte{0});
    }
    require(bytes == expected, "what salvage does not call lost is what was written");
  }
  // A caller that asks for proven data gets what was written, or nothing.
  if (const auto proven = store::distrust_unproven(files, set); proven) {
    auto strict = store::SetReader::open(files, *proven);
    if (strict && strict->read(bytes, 0).has_value() &&
        set.header.set_root == original.header.set_root &&
        original.header.root_kind != store::RootKind::none) {
      require(bytes == original.content, "proven data is what was written");
    }
  }
  const auto report = store::verify_set(files, set, true);
  if (is_honest) {
    require(report.has_value(), "an honest set can be verified");
    // Not the other way round: what is lost may be after the end of the content.
    require(!report->is_repairable() || is_readable, "what can be repaired can be read");
  }
  const auto before = files.all();
  const auto repaired = store::repair_set(files, set);
  if (!is_honest) return;
  require(repaired.has_value() == report->is_repairable(), "verify and repair agree");
  if (!repaired) {
    require(files.all() == before, "an unrepairable set is not changed");
    return;
  }
  const auto after = files.all();
  for (const Bytes& shard : original.shards) {
    const bool is_there = std::any_of(after.begin(), after.end(),
                                      [&](const auto& file) { return file.second == shard; });
    require(is_there, "a repaired shard is as it was");
  }
}

void run(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const bool is_honest = (input[0] & flag_checksums_put_right) == 0;
  const tests::Original& made = original((input[0] & flag_roots) != 0);
  input = input.subspan(1);
  std::vector<Bytes> shards = made.shards;
  while (input.size() >= change_bytes) {
    apply({input[0], input[1], static_cast<std::uint16_t>(input[2] | input[3] << 8U),
           static_cast<std::uint16_t>(input[4] | input[5] << 8U)},
          shards);
    input = input.subspan(change_bytes);
  }
  tests::BoundedFiles files;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (!is_honest) put_right(shards[i]);
    files.put(made.paths[i], std::move(shards[i]));
  }
  const auto findings = store::find_sets(files, folders);
  require(findings.has_value(), "readable files are scanned");
  for (const store::FoundSet& set : findings->sets)
    check_set(files, set, made, is_honest);
}

}  // namespace

}  // namespace calpe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calpe::fuzz::run({data, size});
  return 0;
}
