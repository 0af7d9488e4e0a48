// SPDX-License-Identifier: Apache-2.0
#include "calpe/ceph/ceph_scrub_work.hpp"

#include <fmt/format.h>

#include "base/try.hpp"
#include "calpe/ceph/ceph_scrub_files.hpp"
#include "ceph/shard_ends.hpp"

namespace calpe::tools {

namespace {

std::string place_text(const ShardPlace& place) {
  if (!place.osd.empty()) return place.osd;
  return place.group_id.empty() ? place.file : place.file + " (" + place.group_id + ")";
}

std::string shard_file_name(const ScrubObject& object, ShardIndex shard) {
  return fmt::format("{}.{}", object.name, shard);
}

Status save_shards(const std::string& folder, const ScrubObject& object,
                   const ceph::CephShards& shards) {
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (!shards[s]) continue;
    CALPE_CHECK(write_new(folder, shard_file_name(object, static_cast<ShardIndex>(s)), *shards[s]));
  }
  return Done{};
}

// Returns true if the shard is now corrected in its original place.
Result<bool> put_corrected(const ScrubOrders& orders, const ScrubObject& object, ShardIndex shard,
                           std::span<const std::byte> bytes, ScrubReport& report) {
  const ShardPlace& place = object.places.at(shard);
  const std::string name = shard_file_name(object, shard);
  if (!orders.output.empty()) {
    CALPE_CHECK(write_new(orders.output, name, bytes));
    report.written.push_back(store::in_folder(orders.output, name));
    return false;
  }
  if (orders.put_back) return orders.put_back(object, shard, bytes);
  CALPE_CHECK(rewrite(place.file, bytes));
  return true;
}

struct Loaded {
  ceph::CephShards shards;
  ceph::ShardEnds ends;
};

// Returns the corrected shards in the order of check.wrong, with their lengths in the pool.
Result<std::vector<std::vector<std::byte>>> corrected_shards(const ScrubCode& code,
                                                             const ceph::ObjectCheck& check,
                                                             Loaded& loaded) {
  CALPE_CHECK(ceph::correct_object(code.codec, code.chunk_bytes, check, loaded.shards));
  std::vector<std::vector<std::byte>> corrected;
  for (const ceph::WrongShard& wrong : check.wrong) {
    CALPE_TRY(std::vector<std::byte> bytes,
              ceph::trimmed(loaded.ends, wrong.shard, *loaded.shards[wrong.shard]));
    corrected.push_back(std::move(bytes));
  }
  return corrected;
}

Status correct(const ScrubCode& code, const ScrubOrders& orders, const ScrubObject& object,
               Loaded& loaded, Finding& finding, ScrubReport& report) {
  const auto corrected = corrected_shards(code, finding.check, loaded);
  if (!corrected) {
    finding.state = ObjectState::lost;
    finding.reason = corrected.error().message;
    return Done{};
  }
  if (!orders.repair) return Done{};
  bool is_repaired = true;
  for (std::size_t i = 0; i < corrected->size(); ++i) {
    CALPE_TRY(const bool is_back,
              put_corrected(orders, object, finding.check.wrong[i].shard, (*corrected)[i], report));
    is_repaired = is_repaired && is_back;
  }
  finding.is_repaired = is_repaired;
  return Done{};
}

ObjectState state_of(const ceph::ObjectCheck& check) {
  if (!check.unexplained.empty()) return ObjectState::lost;
  if (!check.wrong.empty()) return ObjectState::wrong;
  return check.missing.empty() && check.is_checked ? ObjectState::sound : ObjectState::incomplete;
}

// Extends the shards if absent bytes count as zeros.
Status extend(const ScrubCode& code, const ScrubObject& object, Loaded& loaded) {
  const ceph::ObjectLayout layout{code.codec.spec().data_shards, code.chunk_bytes, object.bytes};
  // The option is never switched off, so a map that has it is right, and one that does not may be
  // older.
  const bool is_known = code.is_optimised || object.is_optimised;
  const bool is_optimised =
      code.is_optimised.value_or(false) || object.is_optimised.value_or(false);
  CALPE_TRY(const bool is_trimmed, is_known ? Result<bool>(is_optimised)
                                            : ceph::is_trimmed(code.codec, layout, loaded.shards));
  if (!is_trimmed) return Done{};
  CALPE_TRY(loaded.ends, ceph::extend_shards(layout, loaded.shards));
  return Done{};
}

Result<ceph::ObjectCheck> check_shards(const ScrubCode& code, const ScrubObject& object,
                                       Loaded& loaded) {
  CALPE_CHECK(extend(code, object, loaded));
  return ceph::check_object(code.codec, code.chunk_bytes, loaded.shards);
}

Status check(const ScrubCode& code, const ScrubOrders& orders, const ScrubObject& object,
             Loaded& loaded, Finding& finding, ScrubReport& report) {
  auto checked = check_shards(code, object, loaded);
  if (!checked && checked.error().code == ErrorCode::out_of_memory) return checked.error();
  if (!checked) {
    finding.state = ObjectState::lost;
    finding.reason = checked.error().message;
    for (std::size_t s = 0; s < loaded.shards.size(); ++s) {
      if (!loaded.shards[s]) finding.check.missing.push_back(static_cast<ShardIndex>(s));
    }
    finding.check.is_checked = true;  // suppresses the less specific message
    return Done{};
  }
  finding.check = *std::move(checked);
  finding.state = state_of(finding.check);
  for (const ceph::WrongShard& wrong : finding.check.wrong)
    finding.places.push_back(place_text(object.places.at(wrong.shard)));
  if (finding.state == ObjectState::wrong)
    CALPE_CHECK(correct(code, orders, object, loaded, finding, report));
  return Done{};
}

Status restore(const ScrubCode& code, const std::string& folder, const ScrubObject& object,
               const ceph::CephShards& shards, Finding& finding, ScrubReport& report) {
  const auto content = ceph::object_content(code.codec, code.chunk_bytes, shards, object.bytes);
  if (!content) {
    finding.state = ObjectState::lost;
    finding.reason = content.error().message;
    return Done{};
  }
  CALPE_CHECK(write_new(folder, object.name, *content));
  report.restored.push_back(store::in_folder(folder, object.name));
  return Done{};
}

}  // namespace

Status scrub_object(const ScrubCode& code, const ScrubOrders& orders, ScrubObject object,
                    ScrubReport& report) {
  const CodeSpec& spec = code.codec.spec();
  Loaded loaded;
  CALPE_TRY(loaded.shards, load_shards(object, std::size_t{spec.data_shards} + spec.parity_shards));
  if (!orders.save.empty()) CALPE_CHECK(save_shards(orders.save, object, loaded.shards));
  ++report.objects;
  for (const auto& shard : loaded.shards) {
    if (!shard) continue;
    ++report.shards;
    report.bytes += shard->size();
  }
  Finding finding;
  finding.object = object.name;
  finding.group = object.group;
  finding.notes = object.notes;
  CALPE_CHECK(check(code, orders, object, loaded, finding, report));
  if (!orders.restore.empty() && finding.state != ObjectState::lost)
    CALPE_CHECK(restore(code, orders.restore, object, loaded.shards, finding, report));
  if (finding.state != ObjectState::sound) report.findings.push_back(std::move(finding));
  return Done{};
}

}  // namespace calpe::tools
