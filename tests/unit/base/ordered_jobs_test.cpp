// SPDX-License-Identifier: Apache-2.0
// Jobs are taken and delivered in order and one at a time, and fail as in a loop.
#include "base/ordered_jobs.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace calpe;

using Step = std::function<Status(std::uint64_t number)>;

Status succeed(std::uint64_t /*number*/) {
  return Done{};
}
Step failing_at(std::uint64_t at) {
  return [at](std::uint64_t number) -> Status {
    if (number != at) return Done{};
    return Error{ErrorCode::io, "job " + std::to_string(number)};
  };
}

class Jobs final : public OrderedJobs {
 public:
  explicit Jobs(std::uint64_t count_, bool knows_last_ = false)
      : count(count_), knows_last(knows_last_) {}

  Step on_take = succeed;
  Step on_work = succeed;
  Step on_deliver = succeed;

  std::uint64_t count;
  bool knows_last;
  std::vector<std::uint64_t> taken;      // guarded by the order that is tested
  std::vector<std::uint64_t> delivered;  // also
  std::set<std::thread::id> threads;     // of take()
  std::atomic<int> working_at_once = 0;
  std::atomic<int> working_most = 0;

 private:
  Result<Taken> take(std::size_t worker, std::uint64_t number) override {
    const Alone alone(taking_);
    threads.insert(std::this_thread::get_id());
    if (number >= count) return Taken::none;
    taken.push_back(number);
    held_[worker] = number;
    if (Status done = on_take(number); !done) return done.error();
    return knows_last && number + 1 == count ? Taken::last : Taken::one;
  }
  Status work(std::size_t worker) override {
    const int now = ++working_at_once;
    for (int most = working_most; now > most && !working_most.compare_exchange_weak(most, now);) {
    }
    Status done = on_work(held_[worker]);
    --working_at_once;
    return done;
  }
  Status deliver(std::size_t worker) override {
    const Alone alone(delivering_);
    if (Status done = on_deliver(held_[worker]); !done) return done;
    delivered.push_back(held_[worker]);
    return Done{};
  }

  struct Alone {
    explicit Alone(std::atomic<int>& count_) : count(count_) { EXPECT_EQ(++count, 1); }
    ~Alone() { --count; }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;
    std::atomic<int>& count;
  };
  std::atomic<int> taking_ = 0;
  std::atomic<int> delivering_ = 0;
  std::array<std::uint64_t, 16> held_ = {};
};

std::vector<std::uint64_t> numbers(std::uint64_t count) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < count; ++i)
    all.push_back(i);
  return all;
}

TEST(OrderedJobs, AreTakenAndDeliveredInOrder) {
  for (const std::uint64_t count : {0U, 1U, 2U, 3U, 17U, 400U}) {
    for (const std::size_t workers : {1U, 2U, 3U, 8U}) {
      for (const bool knows_last : {false, true}) {
        Jobs jobs(count, knows_last);
        ASSERT_TRUE(jobs.run(workers));
        EXPECT_EQ(jobs.taken, numbers(count));
        EXPECT_EQ(jobs.delivered, numbers(count));
        EXPECT_LE(jobs.threads.size(), workers);
      }
    }
  }
}

TEST(OrderedJobs, AreWorkedOnSideBySide) {
  Jobs jobs(4);
  std::atomic<int> arrived = 0;
  jobs.on_work = [&](std::uint64_t number) -> Status {
    // The first two meet here; a single worker would never leave.
    if (number < 2) {
      ++arrived;
      while (arrived < 2)
        std::this_thread::yield();
    }
    return Done{};
  };
  ASSERT_TRUE(jobs.run(2));
  EXPECT_EQ(jobs.delivered, numbers(4));
}

TEST(OrderedJobs, AreTakenWhileAnEarlierOneIsDelivered) {
  Jobs jobs(4);
  std::atomic<bool> is_third_taken = false;
  jobs.on_take = [&](std::uint64_t number) -> Status {
    if (number == 2) is_third_taken = true;
    return Done{};
  };
  jobs.on_deliver = [&](std::uint64_t) -> Status {
    while (!is_third_taken)
      std::this_thread::yield();
    return Done{};
  };
  ASSERT_TRUE(jobs.run(3));
}

TEST(OrderedJobs, OneJobNeedsNoThread) {
  Jobs jobs(1, true);
  jobs.on_deliver = [caller = std::this_thread::get_id()](std::uint64_t) -> Status {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    return Done{};
  };
  ASSERT_TRUE(jobs.run(8));
  EXPECT_EQ(jobs.threads, std::set{std::this_thread::get_id()});
}

TEST(OrderedJobs, FailAsInALoop) {
  for (const std::size_t workers : {1U, 2U, 5U}) {
    for (std::uint64_t at = 0; at < 7; ++at) {
      for (Step Jobs::*step : {&Jobs::on_take, &Jobs::on_work, &Jobs::on_deliver}) {
        Jobs jobs(7);
        jobs.*step = failing_at(at);
        const Status done = jobs.run(workers);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().message, "job " + std::to_string(at));
        EXPECT_EQ(jobs.delivered, numbers(at));
        if (step == &Jobs::on_take) {
          EXPECT_EQ(jobs.taken, numbers(at + 1));
        }
      }
    }
  }
}

TEST(OrderedJobs, TheFirstOfTwoFailuresIsTheResult) {
  Jobs jobs(9);
  // Job 3 fails late, job 5 early.
  jobs.on_work = [](std::uint64_t number) -> Status {
    if (number == 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (number == 3 || number == 5) return failing_at(number)(number);
    return Done{};
  };
  const Status done = jobs.run(4);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "job 3");
  EXPECT_EQ(jobs.delivered, numbers(3));
}

TEST(OrderedJobs, RethrowOnTheCallersThread) {
  for (const std::size_t workers : {1U, 4U}) {
    for (Step Jobs::*step : {&Jobs::on_take, &Jobs::on_work, &Jobs::on_deliver}) {
      Jobs jobs(7);
      jobs.*step = [](std::uint64_t number) -> Status {
        if (number >= 4) throw std::runtime_error("job " + std::to_string(number));
        return Done{};
      };
      try {
        static_cast<void>(jobs.run(workers));
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "job 4");
      }
      EXPECT_EQ(jobs.delivered, numbers(4));
      Jobs hungry(7);
      hungry.*step = [](std::uint64_t) -> Status { throw std::bad_alloc(); };
      const Status done = hungry.run(workers);
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, ErrorCode::out_of_memory);
    }
  }
}

}  // namespace
