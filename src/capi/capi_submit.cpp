// SPDX-License-Identifier: Apache-2.0
// calpe.h: asynchronous work, and the log.
#include <utility>

#include "capi/capi_stripes.hpp"

using namespace calpe;
using namespace calpe::capi;

struct calpe_pending {
  Pending work;
};

calpe_status calpe_submit(const calpe_codec* codec, const calpe_plan* plan,
                          const calpe_stripe* stripes, size_t stripe_count, uint32_t flags,
                          calpe_pending** out, calpe_error* error) {
  return walled(error, [&]() -> calpe_status {
    if (out == nullptr) return null_argument("out is NULL", error);
    *out = nullptr;
    if (codec == nullptr || plan == nullptr || (stripes == nullptr && stripe_count > 0)) {
      return null_among({{"codec", codec}, {"plan", plan}, {"stripes", stripes}}, error);
    }
    if (stripe_count > list_entries_max) return too_many_stripes(error);
    if (!known_flags(flags)) return unknown_flags(error);
    StripeList list;
    const Status taken = list.read(codec->codec, plan->plan, {stripes, stripe_count});
    if (!taken) return fail(taken.error(), error);
    Result<Pending> work = codec->codec.submit(plan->plan, list.stripes(), to_run_options(flags));
    if (!work) return fail(work.error(), error);
    *out = new calpe_pending{*std::move(work)};
    return succeed(error);
  });
}

calpe_status calpe_wait(calpe_pending* pending, calpe_error* error) {
  return walled(error, [&] {
    if (pending == nullptr) return succeed(error);
    const Status done = pending->work.wait();
    delete pending;
    return finish(done, error);
  });
}

void calpe_set_log_handler(calpe_log_handler handler, void* user) {
  set_log_handler(handler, user);
}

int calpe_codec_runs_on_caller(const calpe_codec* codec) {
  return codec->codec.runs_on_caller() ? 1 : 0;
}
