// SPDX-License-Identifier: Apache-2.0
// Damaged members: opens an array after a crash, changed as the input says, which recovers it, and
// reads it. With up to m changed members it must read as before. Beyond m it must be right or fail,
// as long as at most m superblocks and logs were changed: the newest ones of all members together
// could be removed unnoticed. With checksums corrected (the attacker knows the format) the bytes
// may be anything, but nothing may break.
//
// The input is flags, missing members, and changes of six bytes: what, where (2), value (2),
// member.
#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "array/format/superblock.hpp"
#include "array/judged_array.hpp"
#include "base/little_endian.hpp"
#include "fuzz/array_checksums.hpp"
#include "fuzz/input.hpp"
#include "fuzz/property.hpp"

namespace calpe::fuzz {

namespace {

using tests::SimulatedMembers;

constexpr std::uint8_t flag_checksums_put_right = 1;
constexpr std::uint8_t flag_tail_is_torn = 2;
constexpr std::uint8_t flag_is_used = 4;  // written to, scrubbed and closed afterwards
constexpr unsigned data_count = 2;
constexpr unsigned parity_count = 2;
constexpr unsigned member_count = data_count + parity_count;
constexpr std::size_t change_bytes = 6;
constexpr std::uint64_t member_bytes = 160 * 1024;

// A crashed array on simulated disks, and its content. Made once; changes are undone.
class Image {
 public:
  Image() : members_(member_count, member_bytes), content_(4 * data_count * 8192) {
    tests::keep_memory();
    const array::Settings settings = {
        .spec = {.data_shards = data_count, .parity_shards = parity_count},
        .bytes = content_.size(),
        .chunk_bytes = 8192,
        .log_bytes = 64 * 1024,
        .spare_slots = 2};
    require(array::create(members_, settings, tests::uuid_of(5)).has_value(), "create");
    write_and_crash();
    const auto found = array::parse_superblock(members_[0].disk.content().first(array_block));
    const auto other =
        array::parse_superblock(members_[0].disk.content().subspan(array_block, array_block));
    superblock_ = !found || (other && other->epoch > found->epoch) ? *other : *found;
    layout_ = array::layout_of(superblock_.settings, superblock_.shape);
    require(layout_.member_bytes <= member_bytes, "a member has room");
    find_headers();
    members_.forget_synced();
    marks_ = members_.marks();
  }

  SimulatedMembers& members() { return members_; }
  const array::MemberLayout& layout() const { return layout_; }
  const std::vector<std::byte>& content() const { return content_; }
  // Offsets of batches in a member's log.
  std::span<const std::uint64_t> headers(unsigned member) const { return headers_[member]; }
  const Uuid& uuid() const { return superblock_.array; }
  void undo() {
    members_.undo_to(marks_);
    for (unsigned i = 0; i < member_count; ++i)
      members_[i].is_there = true;
  }

 private:
  void write_and_crash() {
    const auto opened = array::Array::open(members_);
    require(opened.has_value(), "open");
    conformance::Random random(7);
    const auto write = [&](std::uint64_t offset, std::uint64_t bytes) {
      const auto part = std::span(content_).subspan(offset, bytes);
      random.fill(part);
      require((*opened)->write(offset, part, array::Durability::durable).has_value(), "write");
    };
    write(0, 2 * 16384);
    require((*opened)->checkpoint().has_value(), "checkpoint");
    write(16384, 16384);
    write(4096, 4096);
    write(32768, 16384);
    const auto hole = std::span(content_).subspan(32768, 16384);
    std::fill(hole.begin(), hole.end(), std::byte{0});
    require((*opened)->trim(32768, 16384, array::Durability::durable).has_value(), "trim");
    write(500, 9000);
  }
  void find_headers() {
    const array::BatchName name = {.array = superblock_.array,
                                   .generation = superblock_.generation};
    for (unsigned member = 0; member < member_count; ++member) {
      for (std::uint64_t at = 0; at < layout_.log_bytes; at += array_block) {
        const auto block = members_[member].disk.content().subspan(array::log_at + at, array_block);
        if (array::parse_header(block, name, layout_))
          headers_[member].push_back(array::log_at + at);
      }
      require(headers_[member].size() >= 3, "batches are pending");
    }
  }

  SimulatedMembers members_;
  std::vector<std::byte> content_;
  array::Superblock superblock_;
  array::MemberLayout layout_;
  std::array<std::vector<std::uint64_t>, member_count> headers_;
  std::vector<std::size_t> marks_;
};

// Returns the offset of the change.
std::uint64_t change(Image& image, unsigned member, Input& input) {
  SimulatedMembers::Slot& slot = image.members()[member];
  const unsigned what = input.below(8);
  const std::uint64_t where = input.byte() | std::uint64_t{input.byte()} << 8U;
  const std::uint64_t value = input.byte() | std::uint64_t{input.byte()} << 8U;
  const array::MemberLayout& layout = image.layout();
  std::uint64_t at = 0;
  std::uint64_t bytes = 2;
  switch (what) {
    case 0:  // fields of both superblocks
    case 1:
      at = (where & 1U) * array_block + (where >> 1U) % (512 + 48 * member_count);
      break;
    case 2:  // batch headers
    case 3: {
      const auto headers = image.headers(member);
      at = headers[where % headers.size()] + (where >> 4U) % 200;
      break;
    }
    case 4:  // map, missed stripes and digests of both copies of the index
      at = layout.copy_at(where & 1U) + (where >> 1U & 3U) * array_block + (where >> 3U) % 128;
      break;
    case 5:  // checksums
      at = layout.page_at(0, where & 1U) + (where >> 1U) % 256;
      break;
    case 6:  // anywhere
      at = where * 4;
      break;
    default:  // a block of another member; not its superblock, a duplicate of which is refused
      at = std::max(where * 4 / array_block * array_block, array::log_at);
      bytes = array_block;
      break;
  }
  at = std::min(at, member_bytes - bytes);
  std::vector<std::byte> now(bytes);
  slot.disk.read(at, now);
  if (bytes == array_block) {
    image.members()[value % member_count].disk.read(at, now);
  } else if ((value >> 8U) == 0) {  // one byte
    now[0] = static_cast<std::byte>(value);
  } else {
    std::memcpy(now.data(), &value, bytes);
  }
  slot.disk.write(at, now);
  return at;
}

// Corrects the checksums of every structure of the member.
void put_right(Image& image, unsigned member) {
  SimulatedMembers::Slot& slot = image.members()[member];
  std::vector<std::byte> bytes(array_block);
  const array::MemberLayout& layout = image.layout();
  for (unsigned copy = 0; copy < 2; ++copy) {
    slot.disk.read(copy * array_block, bytes);
    unsigned named = std::to_integer<unsigned>(bytes[75]) & 1U;
    std::vector<std::byte> index(layout.index_pages * array_block);
    slot.disk.read(layout.copy_at(named), index);
    std::vector<LittleU64> hashes;
    for (std::uint64_t page = 0; page < layout.index_pages; ++page)
      hashes.emplace_back(
          store::plain_checksum(std::span(index).subspan(page * array_block, array_block)));
    const std::uint64_t root = store::plain_checksum(std::as_bytes(std::span(hashes)));
    store_little(bytes.data() + 80, root);
    put_right_superblock(bytes);
    slot.disk.write(copy * array_block, bytes);
  }
  for (const std::uint64_t at : image.headers(member)) {
    slot.disk.read(at, bytes);
    put_right_log_header(bytes, image.uuid());
    slot.disk.write(at, bytes);
  }
}

void use(array::Array& opened, std::uint64_t at) {
  if (opened.bytes() > std::uint64_t{1} << 20U) return;
  const std::vector<std::byte> block(array_block, std::byte{0x77});
  const bool is_written =
      opened.write(at % (opened.bytes() - array_block + 1), block, array::Durability::durable)
          .has_value();
  for (std::uint64_t from = 0; from < opened.bytes();) {
    const auto step = opened.scrub_step(from, opened.bytes());
    if (!step) break;
    from = step->next;
  }
  static_cast<void>(is_written && opened.close().has_value());
}

// Returns an empty string if the array could be opened and read.
std::string read_all(Image& image, std::vector<std::byte>& all, bool is_used) {
  const auto opened = array::Array::open(image.members());
  if (!opened) return opened.error().message;
  require((*opened)->bytes() >= array_block, "an array has blocks");
  if ((*opened)->bytes() != all.size()) all.resize(array_block);
  const Status read = (*opened)->read(0, all);
  if (is_used) use(**opened, all.size() / 3);
  return read ? "" : read.error().message;
}

void run(std::span<const std::uint8_t> bytes) {
  static Image image;
  if (bytes.size() < 2) return;
  const std::uint8_t flags = bytes[0];
  const bool is_forged = (flags & flag_checksums_put_right) != 0;
  unsigned harmed = 0;  // a bit for each member
  unsigned aged = 0;    // members whose superblock or log may be outdated
  for (unsigned i = 0; i < member_count; ++i) {
    if ((bytes[1] >> i & 1U) == 0) continue;
    image.members()[i].is_there = false;
    aged |= 1U << i;
  }
  if ((flags & flag_tail_is_torn) != 0) {
    const unsigned member = bytes[1] >> 4U & 3U;
    image.members()[member].disk.write(image.headers(member).back(),
                                       std::vector<std::byte>(array_block));
    aged |= 1U << member;
  }
  for (auto rest = bytes.subspan(2); rest.size() >= change_bytes;
       rest = rest.subspan(change_bytes)) {
    for (unsigned i = 0; i < member_count; ++i) {
      if (rest[change_bytes - 1] % 8 < member_count && rest[change_bytes - 1] % 8 != i) continue;
      Input input(rest.first(change_bytes));
      const std::uint64_t at = change(image, i, input);
      (at < array::log_at + image.layout().log_bytes ? aged : harmed) |= 1U << i;
    }
  }
  harmed |= aged;
  for (unsigned i = 0; is_forged && i < member_count; ++i)
    if ((harmed >> i & 1U) != 0) put_right(image, i);
  std::vector<std::byte> all(image.content().size());
  const std::string why = read_all(image, all, (flags & flag_is_used) != 0);
  require(image.members().complaint().empty(), "members are accessed within their size");
  if (!is_forged) {
    const bool is_repairable = std::popcount(harmed) <= int{parity_count};
    if (is_repairable && !why.empty()) std::fprintf(stderr, "fuzz: %s\n", why.c_str());
    require(!is_repairable || why.empty(), "up to m members may be anything");
    const bool is_present = std::popcount(aged) <= int{parity_count};
    require(!is_present || !why.empty() || all == image.content(), "reads return what was written");
  }
  image.undo();
}

}  // namespace

}  // namespace calpe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calpe::fuzz::run({data, size});
  return 0;
}
