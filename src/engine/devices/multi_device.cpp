// SPDX-License-Identifier: Apache-2.0
#include "engine/devices/multi_device.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "base/leak_on_purpose.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "engine/devices/batch_bytes.hpp"
#include "engine/devices/device_split.hpp"
#include "engine/devices/scratch_job.hpp"
#include "ir/slice.hpp"

namespace calpe::engine {

using backend::Batch;
using backend::Completion;
using backend::Kernel;
using backend::KernelRef;

namespace {

// Enough to fill any device, and small enough to measure in a few milliseconds.
constexpr std::size_t scratch_bytes_max = std::size_t{16} << 20;
// Sharing must take at most this fraction of the time of the best device alone.
constexpr double worth_it = 0.97;
// Do not report smaller jobs, which a single device often does alone.
constexpr std::size_t news_bytes = std::size_t{1} << 20;

struct MatrixSource {
  gf::FieldRef field;
  gf::Matrix rows;
};

gf::Matrix some_rows(const gf::Matrix& all, std::span<const std::uint32_t> which) {
  gf::Matrix rows(which.size(), all.columns());
  for (std::size_t r = 0; r < which.size(); ++r)
    std::ranges::copy(all.row(which[r]), rows.row(r).begin());
  return rows;
}

// Shares of the devices in use; 0 for the others.
std::vector<double> shares_of(const MultiDevice::Choice& choice, double bytes) {
  std::vector<DeviceSpeed> speeds;
  for (std::size_t i = 0; i < choice.speeds.size(); ++i) {
    if (choice.is_used[i]) speeds.push_back(choice.speeds[i]);
  }
  const std::vector<double> found = choose_shares(speeds, bytes);
  std::vector<double> shares(choice.speeds.size());
  auto next = found.begin();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (choice.is_used[i]) shares[i] = *next++;
  }
  return shares;
}

}  // namespace

struct MultiDevice::Plan {
  using Clock = std::chrono::steady_clock;
  Choice choice;
  Clock::time_point made_at = Clock::now();
  bool is_final = false;
  std::vector<bool> on_caller;  // changes when a device is disabled; then it is measured again
  struct Dealt {                // output shards [begin, end) of a device
    std::size_t device = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    KernelRef kernel;
  };
  std::vector<Dealt> dealt;
};

class MultiDevice::SplitKernel : public Kernel {
 public:
  explicit SplitKernel(const KernelShape& made) : shape(made) {}
  SplitKernel(const SplitKernel&) = delete;
  SplitKernel& operator=(const SplitKernel&) = delete;
  ~SplitKernel() override {
    if (mark.is_inherited()) keep_for_good(std::move(measured));
  }

  ProcessMark mark;
  KernelShape shape;
  std::vector<KernelRef> whole;  // one per device; nullptr: not available in this process
  // What can be distributed. A transform cannot: part of an additive FFT is hardly less work.
  std::variant<std::monostate, ir::Program, MatrixSource> source;

  using Class = std::pair<int, int>;
  static Class class_of(const Batch& batch, const KernelShape& shape) noexcept {
    return {std::bit_width(moved_bytes(batch, shape)), std::bit_width(batch.stripe_count)};
  }
  // fork() may happen in the middle of a change, so a child must not use this.
  struct Measured {
    std::mutex mutex;  // held while measuring, to keep other work out of the result
    std::map<Class, std::shared_ptr<const Plan>> plans;
    // By device and range of output shards, as different sizes may be distributed alike.
    std::map<std::array<std::size_t, 3>, KernelRef> dealt_kernels;
  };
  std::unique_ptr<Measured> measured = std::make_unique<Measured>();
};

MultiDevice::MultiDevice(std::vector<std::unique_ptr<backend::Device>> devices,
                         double settle_seconds)
    : devices_(std::move(devices)), settle_(settle_seconds), refusals_(devices_.size()) {
  for (const auto& device : devices_)
    name_ += text(name_.empty() ? "" : "+", device->name());
}

template <class Compile>
Status MultiDevice::compile_all(SplitKernel& kernel, const Compile& compile) {
  Status result = Done{};
  std::size_t compiled = 0;
  for (const auto& device : devices_) {
    Result<KernelRef> made = compile(*device);
    if (!made && !mark_.is_inherited()) return made.error();
    if (!made) result = made.error();
    compiled += made ? 1 : 0;
    kernel.whole.push_back(made ? *std::move(made) : nullptr);
  }
  return compiled == 0 ? result : Done{};
}

Result<KernelRef> MultiDevice::compile(const ir::Program& program) {
  auto kernel = std::make_shared<SplitKernel>(KernelShape::of(program));
  kernel->source = program;
  CALPE_CHECK(compile_all(*kernel, [&](auto& device) { return device.compile(program); }));
  return KernelRef(std::move(kernel));
}

Result<KernelRef> MultiDevice::compile_matrix(const gf::FieldRef& field, const gf::Matrix& rows) {
  auto kernel = std::make_shared<SplitKernel>(KernelShape::of(rows));
  kernel->source = MatrixSource{.field = field, .rows = rows};
  CALPE_CHECK(
      compile_all(*kernel, [&](auto& device) { return device.compile_matrix(field, rows); }));
  return KernelRef(std::move(kernel));
}

Result<KernelRef> MultiDevice::compile_transform(const ir::Transform& transform) {
  auto kernel = std::make_shared<SplitKernel>(KernelShape::of(transform));
  CALPE_CHECK(
      compile_all(*kernel, [&](auto& device) { return device.compile_transform(transform); }));
  return KernelRef(std::move(kernel));
}

backend::Profile MultiDevice::profile() const {
  backend::Profile sum;
  for (const auto& device : devices_) {
    const backend::Profile each = device->profile();
    sum.builds += each.builds;
    sum.launches += each.launches;
    sum.copy_in_bytes += each.copy_in_bytes;
    sum.copy_out_bytes += each.copy_out_bytes;
    sum.build_seconds += each.build_seconds;
    sum.copy_in_seconds += each.copy_in_seconds;
    sum.kernel_seconds += each.kernel_seconds;
    sum.copy_out_seconds += each.copy_out_seconds;
  }
  return sum;
}

Completion MultiDevice::submit(const Kernel& kernel, const Batch& batch) {
  const auto& own = static_cast<const SplitKernel&>(kernel);
  if (output_bytes(batch, own.shape) == 0) return Status(Done{});
  if (mark_.is_inherited()) return submit_inherited(own, batch);
  Result<std::shared_ptr<const Plan>> plan = plan_for(own, batch);
  if (!plan) return Status(plan.error());
  const Choice& choice = (*plan)->choice;
  if (choice.way == Way::by_equation) return submit_equations(own, batch, **plan);
  const auto bytes = static_cast<double>(moved_bytes(batch, own.shape));
  return submit_shares(kernel, batch, shares_of(choice, bytes));
}

// A device that needs a driver fails with an explanation.
Completion MultiDevice::submit_inherited(const SplitKernel& kernel, const Batch& batch) {
  Status refused = Done{};
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (kernel.whole[i] == nullptr) continue;
    refused = devices_[i]->run(*kernel.whole[i], batch);
    if (refused) break;
  }
  return refused;
}

Completion MultiDevice::submit_shares(const Kernel& kernel, const Batch& batch,
                                      std::span<const double> shares) {
  const auto& own = static_cast<const SplitKernel&>(kernel);
  const std::vector<Batch> batches = cut_by_shares(batch, own.shape, shares);
  std::vector<DevicePart> parts;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (batches[i].stripe_count == 0) continue;
    parts.push_back(
        {.device = devices_[i].get(), .kernel = own.whole[i].get(), .batch = batches[i]});
  }
  auto work =
      std::make_unique<PartsUnderWay>(std::move(parts), std::vector<std::vector<std::byte*>>{});
  work->start();
  return std::unique_ptr<Completion::Pending>(std::move(work));
}

Completion MultiDevice::submit_equations(const SplitKernel& kernel, const Batch& batch,
                                         const Plan& plan) {
  const std::size_t outputs = kernel.shape.shards.outputs;
  std::vector<DevicePart> parts;
  std::vector<std::vector<std::byte*>> lists;
  for (const Plan::Dealt& dealt : plan.dealt) {
    std::vector<std::byte*>& list = lists.emplace_back();
    list.reserve(batch.stripe_count * (dealt.end - dealt.begin));
    for (std::size_t stripe = 0; stripe < batch.stripe_count; ++stripe) {
      for (std::size_t i = dealt.begin; i < dealt.end; ++i)
        list.push_back(batch.outputs[stripe * outputs + i]);
    }
    Batch part = batch;
    part.outputs = list.data();  // stays valid when the lists are moved
    parts.push_back(
        {.device = devices_[dealt.device].get(), .kernel = dealt.kernel.get(), .batch = part});
  }
  auto work = std::make_unique<PartsUnderWay>(std::move(parts), std::move(lists));
  work->start();
  return std::unique_ptr<Completion::Pending>(std::move(work));
}

std::vector<bool> MultiDevice::on_caller() const {
  std::vector<bool> each;
  for (const auto& device : devices_)
    each.push_back(device->runs_on_caller());
  return each;
}

Result<MultiDevice::Choice> MultiDevice::choice(const Kernel& kernel, const Batch& batch) {
  CALPE_TRY(const auto plan, plan_for(static_cast<const SplitKernel&>(kernel), batch));
  return plan->choice;
}

Result<std::shared_ptr<const MultiDevice::Plan>> MultiDevice::plan_for(const SplitKernel& kernel,
                                                                       const Batch& batch) {
  SplitKernel::Measured& measured = *kernel.measured;
  const std::lock_guard lock(measured.mutex);
  std::shared_ptr<const Plan>& plan = measured.plans[SplitKernel::class_of(batch, kernel.shape)];
  const bool may_have_settled =
      plan != nullptr && !plan->is_final && Plan::Clock::now() - plan->made_at > settle_;
  if (plan == nullptr || may_have_settled || plan->on_caller != on_caller()) {
    CALPE_TRY(const std::shared_ptr<Plan> made, measure(kernel, batch));
    made->is_final = may_have_settled || std::ranges::count(made->on_caller, false) == 0;
    plan = made;
    note_refusals(plan->choice, moved_bytes(batch, kernel.shape));
  }
  return plan;
}

Result<std::shared_ptr<MultiDevice::Plan>> MultiDevice::measure(const SplitKernel& kernel,
                                                                const Batch& batch) {
  auto job = std::make_unique<const ScratchJob>(batch, kernel.shape, scratch_bytes_max);
  auto plan = measure_with(*job, kernel, batch);
  if (may_still_write()) keep_for_good(std::move(job));
  return plan;
}

Result<std::shared_ptr<MultiDevice::Plan>> MultiDevice::measure_with(const ScratchJob& job,
                                                                     const SplitKernel& kernel,
                                                                     const Batch& batch) {
  auto plan = std::make_shared<Plan>();
  Choice& choice = plan->choice;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    CALPE_TRY(const DeviceSpeed speed, job.measure(*devices_[i], *kernel.whole[i]));
    choice.speeds.push_back(speed);
  }
  plan->on_caller = on_caller();
  const auto best = std::ranges::min_element(
      choice.speeds, {}, [&](const DeviceSpeed& speed) { return speed.seconds(job.bytes()); });
  choice.seconds_alone = best->seconds(job.bytes());
  const auto real_bytes = static_cast<double>(moved_bytes(batch, kernel.shape));
  choice.is_used.resize(devices_.size());
  const std::vector<double> wanted = choose_shares(choice.speeds, real_bytes);
  for (std::size_t i = 0; i < devices_.size(); ++i)
    choice.is_used[i] = wanted[i] > 0;

  if (std::ranges::count(choice.is_used, true) > 1) {
    // Measure the shared run, as devices may share memory, cores or a bus.
    const std::vector<double> shares = shares_of(choice, job.bytes());
    CALPE_TRY(choice.seconds_by_bytes,
              least_seconds([&] { return submit_shares(kernel, job.batch(), shares).wait(); }));
    CALPE_CHECK(deal_equations(kernel, *plan));
    if (!plan->dealt.empty()) {
      CALPE_TRY(choice.seconds_by_equation,
                least_seconds([&] { return submit_equations(kernel, job.batch(), *plan).wait(); }));
    }
    // A scratch job too small to be shared says nothing about a larger one.
    const bool is_shared = std::ranges::count_if(shares, [](double s) { return s > 0; }) > 1;
    const bool is_dealt =
        !plan->dealt.empty() && choice.seconds_by_equation < choice.seconds_by_bytes;
    const double together = is_dealt ? choice.seconds_by_equation : choice.seconds_by_bytes;
    if (!is_shared || together < worth_it * choice.seconds_alone) {
      choice.way = is_dealt ? Way::by_equation : Way::by_bytes;
      return plan;
    }
  }
  choice.way = Way::alone;
  choice.is_used.assign(devices_.size(), false);
  choice.is_used[static_cast<std::size_t>(best - choice.speeds.begin())] = true;
  return plan;
}

Result<KernelRef> MultiDevice::compile_rows(const SplitKernel& kernel, backend::Device& device,
                                            std::size_t begin, std::size_t end) {
  std::vector<std::uint32_t> shards(end - begin);
  std::iota(shards.begin(), shards.end(), static_cast<std::uint32_t>(begin));
  if (const auto* program = std::get_if<ir::Program>(&kernel.source)) {
    return device.compile(ir::slice_shards(*program, shards).program);
  }
  const auto& source = std::get<MatrixSource>(kernel.source);
  return device.compile_matrix(source.field, some_rows(source.rows, shards));
}

Status MultiDevice::deal_equations(const SplitKernel& kernel, Plan& plan) {
  if (std::holds_alternative<std::monostate>(kernel.source)) return Done{};
  std::vector<double> shares(devices_.size());
  double sum = 0;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (plan.choice.is_used[i]) sum += plan.choice.speeds[i].bytes_per_second;
  }
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (plan.choice.is_used[i]) shares[i] = plan.choice.speeds[i].bytes_per_second / sum;
  }
  std::size_t begin = 0;
  std::vector<Plan::Dealt> dealt;
  const std::vector<std::size_t> ends = share_ends(shares, kernel.shape.shards.outputs);
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (ends[i] > begin)
      dealt.push_back({.device = i, .begin = begin, .end = ends[i], .kernel = {}});
    begin = ends[i];
  }
  if (dealt.size() < 2) return Done{};
  for (Plan::Dealt& each : dealt) {
    KernelRef& kept = kernel.measured->dealt_kernels[{each.device, each.begin, each.end}];
    if (kept == nullptr) {
      CALPE_TRY(kept, compile_rows(kernel, *devices_[each.device], each.begin, each.end));
    }
    each.kernel = kept;
  }
  plan.dealt = std::move(dealt);
  return Done{};
}

void MultiDevice::note_refusals(const Choice& choice, std::size_t bytes) {
  if (bytes < news_bytes) return;
  const auto whole = [](double number) { return static_cast<long long>(number); };
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (choice.is_used[i]) {
      const std::lock_guard lock(mutex_);
      refusals_[i].clear();
      continue;
    }
    const DeviceSpeed& speed = choice.speeds[i];
    std::string reason =
        text(devices_[i]->name(), " is not used for jobs of ", bytes, " bytes: at ",
             whole(speed.bytes_per_second / 1e6), " MB/s plus ",
             whole(speed.overhead_seconds * 1e6), " us overhead, it would hardly shorten the ",
             whole(choice.seconds_alone * 1e6), " us that the best device takes alone");
    {
      const std::lock_guard lock(mutex_);
      if (!refusals_[i].empty()) continue;
      refusals_[i] = reason;
    }
    logging::write(reason);
  }
}

bool MultiDevice::may_still_write() const {
  return std::ranges::any_of(devices_,
                             [](const auto& device) { return device->may_still_write(); });
}

std::vector<std::string> MultiDevice::refusals() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> reasons;
  std::ranges::copy_if(refusals_, std::back_inserter(reasons),
                       [](const std::string& reason) { return !reason.empty(); });
  return reasons;
}

}  // namespace calpe::engine
