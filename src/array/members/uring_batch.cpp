// SPDX-License-Identifier: Apache-2.0
// Runs a batch of requests with one system call. Long reads that are not cached bypass the page
// cache, because filling it takes half of their time. Adjacent direct requests become one transfer.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "array/members/opened_member.hpp"
#if CALPE_HAS_URING
#include <sys/uio.h>

#include "store/io/uring_ring.hpp"
#endif

namespace calpe::array {

#if CALPE_HAS_URING

namespace {

constexpr std::size_t direct_reads_bytes_min = std::size_t{128} << 10U;
constexpr std::size_t bounce_bytes = std::size_t{2} << 20U;

// Aligned memory for O_DIRECT, as buffers of nbdkit are not aligned.
std::byte* bounce_of_this_thread() {
  thread_local const std::unique_ptr<std::byte, void (*)(void*)> bytes(
      static_cast<std::byte*>(std::aligned_alloc(direct_alignment, bounce_bytes)), std::free);
  return bytes.get();  // NOLINT(clang-analyzer-unix.Malloc): freed with the thread
}

bool is_aligned(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address) % direct_alignment == 0;
}

// Transfers that bypass the cache. Adjacent ranges of a member, such as chunks of stripes that were
// written in sequence, become one transfer.
class DirectTransfers {
 public:
  // Returns false if there is no room in this round.
  bool add(const MemberWork& work) {
    const std::span<std::byte> bytes = work.request->bytes;
    std::byte* to = bytes.data();
    if (!is_aligned(to)) {
      if (bytes.size() > bounce_bytes - bounced_) return false;
      to = bounce_of_this_thread() + bounced_;
      bounced_ += bytes.size();
    }
    const std::size_t transfer = transfer_for(work);
    pieces_.push_back({work, to, transfer, transfers_[transfer].pieces++});
    transfers_[transfer].end += bytes.size();
    return true;
  }
  bool is_empty() const { return pieces_.empty(); }
  std::size_t count() const { return transfers_.size(); }

  // Call it when all requests are added, before prepare().
  void end_adding() {
    std::size_t vectors = 0;
    for (Transfer& transfer : transfers_) {
      transfer.first = vectors;
      vectors += transfer.pieces;
    }
    vectors_.resize(vectors);
    for (const Piece& piece : pieces_) {
      iovec& vector = vectors_[transfers_[piece.transfer].first + piece.number];
      vector = {piece.to, piece.work.request->bytes.size()};
    }
  }
  void prepare(io_uring_sqe* entry, std::size_t i) {
    const Transfer& transfer = transfers_[i];
    const int number = transfer.member->direct.get();
    const iovec* const first = &vectors_[transfer.first];
    const auto pieces = static_cast<unsigned>(transfer.pieces);
    if (transfer.call == MemberCall::read) {
      io_uring_prep_readv(entry, number, first, pieces, transfer.offset);
    } else {
      io_uring_prep_writev(entry, number, first, pieces, transfer.offset);
    }
  }
  void finish(std::size_t i, int result) {
    Transfer& transfer = transfers_[i];
    transfer.is_done =
        result >= 0 && static_cast<std::uint64_t>(result) == transfer.end - transfer.offset;
  }
  // Finishes all requests. The usual way repeats those that failed, and reports the error.
  void end() {
    for (const Piece& piece : pieces_) {
      MemberRequest& request = *piece.work.request;
      if (!transfers_[piece.transfer].is_done) {
        if (request.call == MemberCall::read) request.is_past_cache = false;
        piece.work.member->run(request);
      } else if (piece.to != request.bytes.data()) {
        std::memcpy(request.bytes.data(), piece.to, request.bytes.size());
      }
    }
    pieces_.clear();
    transfers_.clear();
    bounced_ = 0;
  }
  void run(store::UringRing& ring) {
    end_adding();
    ring.run(
        transfers_.size(), [&](io_uring_sqe* entry, std::size_t i) { prepare(entry, i); },
        [&](std::size_t i, int result) { finish(i, result); });
    end();
  }

 private:
  struct Piece {
    MemberWork work;
    std::byte* to;
    std::size_t transfer;
    std::size_t number;  // position in the transfer
  };
  struct Transfer {
    const OpenedMember* member;
    MemberCall call;
    std::uint64_t offset;
    std::uint64_t end;
    std::size_t pieces = 0;
    std::size_t first = 0;  // first vector
    bool is_done = false;
  };
  static constexpr std::size_t pieces_most = 512;  // the kernel accepts 1,024

  std::size_t transfer_for(const MemberWork& work) {
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      const Transfer& transfer = transfers_[i];
      if (transfer.member == work.member && transfer.call == work.request->call &&
          transfer.end == work.request->offset && transfer.pieces < pieces_most) {
        return i;
      }
    }
    transfers_.push_back(
        {work.member, work.request->call, work.request->offset, work.request->offset});
    return transfers_.size() - 1;
  }

  std::vector<Piece> pieces_;
  std::vector<Transfer> transfers_;
  std::vector<iovec> vectors_;
  std::size_t bounced_ = 0;
};

// Not if the first read is cached: then the others probably are, too.
bool go_past_cache(std::span<const MemberWork> batch) {
  std::size_t bytes = 0;
  for (const MemberWork& work : batch) {
    if (work.request->call != MemberCall::read || work.member->direct.get() < 0) return false;
    if (work.request->is_past_cache) return false;  // see is_direct()
    bytes += work.request->bytes.size();
  }
  return bytes >= direct_reads_bytes_min && bounce_of_this_thread() != nullptr &&
         !batch[0].member->read_if_cached(*batch[0].request);
}

void read_past_cache(store::UringRing& ring, std::span<const MemberWork> batch) {
  thread_local DirectTransfers reads;
  for (const MemberWork& work : batch) {
    if (reads.add(work)) continue;
    if (!reads.is_empty()) reads.run(ring);
    if (!reads.add(work)) work.member->read(*work.request, 0);  // larger than the buffer
  }
  if (!reads.is_empty()) reads.run(ring);
}

void prepare(io_uring_sqe* entry, const MemberWork& work) {
  const MemberRequest& request = *work.request;
  const auto length = static_cast<unsigned>(request.bytes.size());
  if (request.call == MemberCall::read) {
    io_uring_prep_read(entry, work.member->descriptor.get(), request.bytes.data(), length,
                       request.offset);
  } else if (request.call == MemberCall::write) {
    io_uring_prep_write(entry, work.member->descriptor_for(request), request.bytes.data(), length,
                        request.offset);
    if (request.is_durable) entry->rw_flags = RWF_DSYNC;
  } else {
    io_uring_prep_fsync(entry, work.member->descriptor.get(), IORING_FSYNC_DATASYNC);
  }
}

// Short, interrupted or unaligned requests: the usual way finishes them or reports the error.
void finish(const MemberWork& work, int result) {
  MemberRequest& request = *work.request;
  const std::size_t done = result > 0 ? static_cast<std::size_t>(result) : 0;
  if (request.call == MemberCall::read) {
    if (done != request.bytes.size()) work.member->read(request, done);
  } else if (request.call == MemberCall::write) {
    if (done != request.bytes.size()) work.member->write(request, done);
  } else if (result == -EINTR || result == -EAGAIN) {
    work.member->flush(request);
  } else if (result < 0) {
    // Do not retry: the kernel reports lost pages once, and success afterwards.
    request.error = work.member->failed("flush", -result);
  }
}

// Requests of a rebuild or a scrub, which may be adjacent.
bool is_direct(const MemberWork& work) {
  const MemberRequest& request = *work.request;
  return request.call != MemberCall::flush && !request.is_durable && request.is_past_cache &&
         work.member->descriptor_for(request) == work.member->direct.get() &&
         work.member->direct.get() >= 0 && request.bytes.size() <= transfer_bytes_max;
}

// Cached writes are memory copies, which ext4 would move to a kernel thread. This thread does them
// while the disks work on the others.
bool is_done_here(const MemberWork& work) {
  const MemberRequest& request = *work.request;
  const bool is_copied = request.call == MemberCall::write && !request.is_durable &&
                         work.member->descriptor_for(request) != work.member->direct.get();
  return is_copied || request.bytes.size() > transfer_bytes_max;
}

// Other requests use their bytes meanwhile, so it must not throw. Only the message of an error
// allocates memory.
void run_here(const MemberWork& work) noexcept {
  try {
    work.member->run(*work.request);
  } catch (const std::bad_alloc&) {
    work.request->error = Error{ErrorCode::out_of_memory, "out of memory"};
  }
}

}  // namespace

bool run_with_uring(std::span<const MemberWork> batch, const std::function<void()>& meanwhile) {
  store::UringRing& ring = store::uring_of_this_thread();
  if (ring.error() != 0) return false;
  if (go_past_cache(batch)) {
    read_past_cache(ring, batch);
    if (meanwhile) meanwhile();
    return true;
  }
  thread_local std::vector<MemberWork> together;
  thread_local std::vector<MemberWork> here;
  thread_local DirectTransfers direct;
  together.clear();
  here.clear();
  for (const MemberWork& work : batch) {
    if (is_direct(work) && direct.add(work)) continue;
    (is_done_here(work) ? here : together).push_back(work);
  }
  direct.end_adding();
  const std::size_t first = direct.count();
  const auto prepare_one = [&](io_uring_sqe* entry, std::size_t i) {
    if (i < first) return direct.prepare(entry, i);
    prepare(entry, together[i - first]);
  };
  const auto finish_one = [&](std::size_t i, int result) {
    if (i < first) return direct.finish(i, result);
    finish(together[i - first], result);
  };
  if (here.empty() && !meanwhile) {
    ring.run(first + together.size(), prepare_one, finish_one);
  } else {
    ring.run(first + together.size(), prepare_one, finish_one, [&] {
      for (const MemberWork& work : here)
        run_here(work);
      if (meanwhile) meanwhile();
    });
  }
  direct.end();
  return true;
}

#else

bool run_with_uring(std::span<const MemberWork> /*batch*/,
                    const std::function<void()>& /*meanwhile*/) {
  return false;
}

#endif

}  // namespace calpe::array
