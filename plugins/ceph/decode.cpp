// SPDX-License-Identifier: Apache-2.0
// Rebuilds only the chunks that are wanted and lost, in one allocation.
#include <cerrno>

#include "ceph/chunk_buffers.hpp"
#include "ceph/erasure_code.hpp"

namespace calpe_ceph {

namespace {

using ceph::bufferlist;
using ceph::bufferptr;

using Inputs = std::array<const void*, shards_max>;
using Outputs = std::array<void*, shards_max>;

// The available chunks, by shard.
class Survivors {
 public:
  Survivors(const ceph::Chunks& chunks, unsigned chunk_count) {
    if (!chunks.empty()) bytes_ = chunks.begin()->second.length();
    for (const auto& [shard, list] : chunks) {
      if (shard < 0 || shard >= static_cast<int>(chunk_count)) continue;
      lists_[static_cast<std::size_t>(shard)] = &list;
      mask_ |= ShardMask{1} << shard;
      is_even_ = is_even_ && list.length() == bytes_;
    }
  }

  ShardMask mask() const { return mask_; }
  unsigned bytes() const { return bytes_; }
  bool is_even() const { return is_even_; }
  const bufferlist& list(unsigned shard) const { return *lists_[shard]; }

  // Returns the addresses of the chunks that the plan reads. Joins fragmented chunks in copies.
  void point(const Plan& plan, Inputs& inputs) {
    for (std::size_t i = 0; i < plan.read_count(); ++i) {
      const bufferlist& list = *lists_[plan.read(i)];
      if (list.get_num_buffers() == 1) {
        inputs[i] = list.front().c_str();
      } else {
        inputs[i] = joined_.emplace_back(list).c_str();
      }
    }
  }

 private:
  std::array<const bufferlist*, shards_max> lists_{};
  std::vector<bufferlist> joined_;
  ShardMask mask_ = 0;
  unsigned bytes_ = 0;
  bool is_even_ = true;
};

int run(const SharedCode& code, const Plan& plan, Survivors& survivors, const Outputs& outputs) {
  Inputs inputs{};
  survivors.point(plan, inputs);
  const calpe_status status = calpe_run(code.codec(), plan.handle(), inputs.data(), outputs.data(),
                                        survivors.bytes(), CALPE_RUN_CACHED, nullptr);
  return status == CALPE_OK ? 0 : -EIO;
}

// Rebuilds into one new buffer, with the chunks in the order of the plan's writes.
int run_into_new(const SharedCode& code, const Plan& plan, Survivors& survivors,
                 bufferptr& rebuilt) {
  rebuilt = new_buffer(survivors.bytes() * static_cast<unsigned>(plan.write_count()));
  Outputs outputs{};
  for (std::size_t i = 0; i < plan.write_count(); ++i)
    outputs[i] = first_byte(rebuilt) + i * survivors.bytes();
  return run(code, plan, survivors, outputs);
}

}  // namespace

int ErasureCode::decode(const std::set<int>& want, const ceph::Chunks& chunks,
                        ceph::Chunks* decoded, int /*chunk_bytes*/) {
  Survivors survivors(chunks, get_chunk_count());
  ShardMask wanted = 0;
  for (const int shard : want) {
    if (shard < 0 || shard >= static_cast<int>(get_chunk_count())) return -EINVAL;
    wanted |= ShardMask{1} << shard;
  }
  std::shared_ptr<const Plan> plan;
  bufferptr rebuilt;
  if ((wanted & ~survivors.mask()) != 0) {
    plan = code_->find_plan(survivors.mask(), wanted);
    if (plan == nullptr || !survivors.is_even()) return -EIO;
    if (survivors.bytes() != 0) {
      if (const int status = run_into_new(*code_, *plan, survivors, rebuilt)) return status;
    }
  }
  unsigned written = 0;
  for (const int shard : want) {
    bufferlist& chunk = empty_chunk(*decoded, static_cast<unsigned>(shard));
    if ((survivors.mask() >> shard & 1) != 0) {
      chunk = survivors.list(static_cast<unsigned>(shard));
    } else if (survivors.bytes() != 0) {
      chunk.push_back(bufferptr(rebuilt, written++ * survivors.bytes(), survivors.bytes()));
    }
  }
  return 0;
}

// The caller has allocated the buffers of all chunks.
int ErasureCode::decode_chunks(const std::set<int>& want, const ceph::Chunks& chunks,
                               ceph::Chunks* decoded) {
  Survivors survivors(chunks, get_chunk_count());
  ShardMask wanted = 0;
  for (const int shard : want) {
    if (shard < 0 || shard >= static_cast<int>(get_chunk_count())) return -EINVAL;
    wanted |= ShardMask{1} << shard;
  }
  if ((wanted & ~survivors.mask()) == 0) return 0;
  const auto plan = code_->find_plan(survivors.mask(), wanted);
  if (plan == nullptr || !survivors.is_even()) return -EIO;
  Outputs outputs{};
  for (std::size_t i = 0; i < plan->write_count(); ++i) {
    const auto chunk = decoded->find(static_cast<int>(plan->write(i)));
    if (chunk == decoded->end() || chunk->second.length() != survivors.bytes()) return -EINVAL;
    outputs[i] = chunk->second.c_str();
  }
  return run(*code_, *plan, survivors, outputs);
}

// Returns all data in order. Reads of objects call this for each stripe.
int ErasureCode::decode_concat(const ceph::Chunks& chunks, bufferlist* decoded) {
  Survivors survivors(chunks, get_chunk_count());
  const ShardMask wanted = first_shards(data_count_);
  bufferptr rebuilt;
  if ((wanted & ~survivors.mask()) != 0) {
    const auto plan = code_->find_plan(survivors.mask(), wanted);
    if (plan == nullptr || !survivors.is_even()) return -EIO;
    if (survivors.bytes() == 0) return 0;
    if (const int status = run_into_new(*code_, *plan, survivors, rebuilt)) return status;
  }
  unsigned written = 0;
  for (unsigned shard = 0; shard < data_count_; ++shard) {
    if ((survivors.mask() >> shard & 1) != 0) {
      decoded->append(survivors.list(shard));
    } else {
      decoded->push_back(bufferptr(rebuilt, written++ * survivors.bytes(), survivors.bytes()));
    }
  }
  return 0;
}

}  // namespace calpe_ceph
