// SPDX-License-Identifier: Apache-2.0
// Creates a code from a profile, and computes its sizes and its placement rule.
#include "ceph/erasure_code.hpp"

#include <cerrno>
#include <numeric>

namespace calpe_ceph {

namespace {

// Chunks are whole cache lines. Kernels then have no partial vectors, and all chunks of an aligned
// object are aligned.
constexpr unsigned cache_line_bytes = 64;
constexpr int pool_type_erasure = 3;  // pg_pool_t::TYPE_ERASURE

// With packets a chunk is a multiple of a group, so that parity and data chunks have equal length.
unsigned chunk_multiple(const calpe_spec& spec) {
  if (spec.layout != CALPE_LAYOUT_PACKETS) return cache_line_bytes;
  return std::lcm(cache_line_bytes, spec.word_bits * spec.packet_bytes);
}

void advise(const ceph::ErasureCodeProfile& profile, unsigned multiple, std::ostream& notes) {
  const auto given = profile.find("stripe_unit");
  if (given != profile.end() && !given->second.empty()) return;
  notes << "stripe_unit is not set: using osd_pool_erasure_code_stripe_unit (default 4 KiB), which "
        << "suits small objects; 16K or 64K is faster for large ones. It must be a multiple of "
        << multiple << " and cannot be changed later (docs/ceph.md)" << std::endl;
}

}  // namespace

int ErasureCode::init(ceph::ErasureCodeProfile& profile, std::ostream* errors) {
  std::ostream nowhere(nullptr);
  std::ostream& notes = errors != nullptr ? *errors : nowhere;
  if (const int status = read_settings(profile, settings_, notes); status != 0) return status;
  code_ = SharedCode::get(settings_, notes);
  if (code_ == nullptr) return -EINVAL;
  write_spec(code_->spec(), profile);
  data_count_ = code_->spec().data_shards;
  parity_count_ = code_->spec().parity_shards;
  chunk_multiple_ = chunk_multiple(code_->spec());
  advise(profile, chunk_multiple_, notes);
  profile_ = profile;  // the daemon refuses a code whose profile differs from this
  return 0;
}

int ErasureCode::create_rule(const std::string& name, CrushWrapper& crush,
                             std::ostream* errors) const {
  const std::string& root = profile_.at("crush-root");
  const std::string& domain = profile_.at("crush-failure-domain");
  const std::string& device_class = profile_.at("crush-device-class");
#if CALPE_CEPH_RELEASE < 19
  return crush.add_simple_rule(name, root, domain, device_class, "indep", pool_type_erasure,
                               errors);
#else
  const int domains = static_cast<int>(settings_.failure_domains);
  const int osds = static_cast<int>(settings_.osds_per_failure_domain);
  if (osds > 1) {
    return crush.add_indep_multi_osd_per_failure_domain_rule(name, root, domain, domains, osds,
                                                             device_class, errors);
  }
  return crush.add_simple_rule(name, root, domain, domains, device_class, "indep",
                               pool_type_erasure, errors);
#endif
}

unsigned ErasureCode::get_chunk_size(unsigned object_bytes) const {
  const std::uint64_t share =
      (std::uint64_t{object_bytes} + data_count_ - 1) / data_count_ + chunk_multiple_ - 1;
  return static_cast<unsigned>(share - share % chunk_multiple_);
}

}  // namespace calpe_ceph
