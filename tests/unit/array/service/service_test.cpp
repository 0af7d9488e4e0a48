// SPDX-License-Identifier: Apache-2.0
// The service on real files: members come and go, and rebuild and scrub run while threads write.
// Runs under the sanitizers, which cannot be used inside nbdkit.
#include "array/service/service.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "array/service/requests.hpp"
#include "array/service/status_json.hpp"
#include "base/files.hpp"

namespace calpe::array {
namespace {

using Json = nlohmann::ordered_json;
using array::Durability;
using array::FileMembers;
using array::MemberAccess;
using ::testing::HasSubstr;

constexpr std::uint64_t block = 4096;
constexpr std::uint64_t member_bytes = std::uint64_t{2} << 20U;
constexpr std::uint64_t capacity = 64 * 4 * 2 * block;

template <class Condition>
bool wait_for(const Condition& condition) {
  const auto end = Pace::Clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (Pace::Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// 4+2 on files, with optional spares.
class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() : folder_(*TemporaryFolder::create()) {}

  std::string make_file(const std::string& name) const {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path).close();
    std::filesystem::resize_file(path, member_bytes);
    return path;
  }
  void create(unsigned spares) {
    for (unsigned i = 0; i < 6 + spares; ++i) {
      paths_.push_back(make_file("m" + std::to_string(i)));
    }
    const auto members = FileMembers::open(paths_, MemberAccess::write);
    ASSERT_TRUE(members) << members.error().message;
    const array::Settings settings = {.spec = {.data_shards = 4, .parity_shards = 2},
                                      .bytes = capacity,
                                      .chunk_bytes = 2 * block,
                                      .log_bytes = 256 * 1024};
    const Status made = array::create(**members, settings, {std::byte{7}});
    ASSERT_TRUE(made) << made.error().message;
  }
  void open(const ServiceOptions& options = {}) {
    auto service = Service::open(paths_, options);
    ASSERT_TRUE(service) << service.error().message;
    service_ = *std::move(service);
    service_->start([](const Event&) {});
  }
  Json ask(const Json& request) { return Json::parse(answer(*service_, request.dump())); }
  std::string state() { return ask({{"do", "status"}})["state"]; }
  std::string error_of(const std::string& line) {
    const Json answered = Json::parse(answer(*service_, line));
    return answered.value("code", "") + ": " + answered.value("error", "");
  }
  bool becomes(const std::string& expected) {
    return wait_for([&] { return state() == expected; });
  }
  std::vector<std::byte> written(std::uint64_t at, std::size_t bytes, unsigned seed) {
    std::vector<std::byte> content(bytes);
    std::mt19937 random(seed);
    std::ranges::generate(content, [&] { return static_cast<std::byte>(random()); });
    const Status done = service_->array().write(at, content, Durability::durable);
    EXPECT_TRUE(done) << done.error().message;
    return content;
  }
  std::vector<std::byte> read(std::uint64_t at, std::size_t bytes) {
    std::vector<std::byte> content(bytes);
    const Status done = service_->array().read(at, content);
    EXPECT_TRUE(done) << done.error().message;
    return content;
  }
  Result<array::Inspection> inspected() const {
    auto members = FileMembers::open(paths_, MemberAccess::read);
    if (!members) return std::move(members).error();
    return array::inspect(**members);
  }

  TemporaryFolder folder_;
  std::vector<std::string> paths_;
  std::unique_ptr<Service> service_;
};

// Each thread writes its own blocks and reads them back.
class Writers {
 public:
  Writers(array::Array& array, unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) {
      threads_.emplace_back([this, &array, i, threads] { run(array, i, threads); });
    }
  }
  ~Writers() { stop(); }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;
  void stop() {
    is_ending_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  std::uint64_t rounds() const { return rounds_; }
  std::uint64_t wrong() const { return wrong_; }

 private:
  void run(array::Array& array, unsigned first, unsigned step) {
    std::vector<std::byte> content(block);
    std::vector<std::byte> read(block);
    for (std::uint64_t i = 0; !is_ending_; ++i) {
      const std::uint64_t at = (first + i * step) * block % capacity;
      std::fill(content.begin(), content.end(), static_cast<std::byte>(i % 251 + 1));
      const auto durability = i % 8 == 0 ? Durability::durable : Durability::cached;
      const bool is_right = array.write(at, content, durability).has_value() &&
                            array.read(at, read).has_value() && read == content;
      wrong_ += is_right ? 0 : 1;
      ++rounds_;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  std::atomic<bool> is_ending_ = false;
  std::atomic<std::uint64_t> rounds_ = 0;
  std::atomic<std::uint64_t> wrong_ = 0;
  std::vector<std::thread> threads_;
};

TEST_F(ServiceTest, GrowsWhileThreadsWrite) {
  create(0);
  open({.scrub_rate = 64 * block});
  Writers writers(service_->array(), 4);
  ASSERT_TRUE(wait_for([&] { return writers.rounds() > 200; }));
  ask({{"do", "scrub"}});
  ASSERT_TRUE(wait_for([&] { return service_->scrub_state().done != 0; }));
  const Json possible = ask({{"do", "grow"}, {"dry_run", true}});
  EXPECT_EQ(service_->array().bytes(), capacity);
  EXPECT_EQ(ask({{"do", "grow"}, {"bytes", 2 * capacity}})["bytes"], 2 * capacity);
  EXPECT_EQ(ask({{"do", "grow"}})["bytes_before"], 2 * capacity);
  EXPECT_GE(service_->array().bytes(), possible["bytes"].get<std::uint64_t>() - capacity / 8);
  const std::uint64_t rounds = writers.rounds();
  ASSERT_TRUE(wait_for([&] { return writers.rounds() > rounds + 200; }));
  writers.stop();
  EXPECT_EQ(writers.wrong(), 0U);
  const std::uint64_t end = service_->array().bytes() - 4 * block;
  EXPECT_EQ(read(end, 4 * block), std::vector<std::byte>(4 * block));
  const auto content = written(end, 4 * block, 1);
  EXPECT_TRUE(service_->scrub_state().is_running);
  ask({{"do", "rate"}, {"scrub", 0}});
  ASSERT_TRUE(wait_for([&] { return service_->scrub_state().scrubs_ended == 1; }));
  EXPECT_EQ(service_->scrub_state().found, 0U);
  EXPECT_EQ(error_of(R"({"do":"grow","bytes":"much"})"),
            "usage: bytes is \"much\"; expected a number");
  ASSERT_TRUE(service_->close());
  service_.reset();
  open();
  EXPECT_EQ(read(end, 4 * block), content);
  EXPECT_EQ(service_->scrub_state().scrubs_ended, 1U);
}

TEST_F(ServiceTest, MembersComeAndGoDuringWrites) {
  create(1);
  open();
  written(0, capacity, 3);
  Writers writers(service_->array(), 2);
  ASSERT_TRUE(ask({{"do", "fail"}, {"member", 2}}).contains("ok"));
  ASSERT_TRUE(becomes("healthy"));  // the spare
  EXPECT_EQ(ask({{"do", "status"}})["members"][2]["path"], paths_[6]);
  EXPECT_TRUE(ask({{"do", "status"}})["spares"].empty());
  ask({{"do", "scrub"}});
  std::filesystem::remove(paths_[4]);
  ASSERT_TRUE(becomes("degraded"));
  const std::string fresh = make_file("fresh");
  ASSERT_TRUE(ask({{"do", "replace"}, {"member", 4}, {"path", fresh}}).contains("ok"));
  ASSERT_TRUE(becomes("healthy"));
  ASSERT_TRUE(wait_for([&] { return service_->scrub_state().scrubs_ended == 1; }));
  EXPECT_EQ(service_->scrub_state().found, 0U);
  EXPECT_EQ(service_->scrub_state().columns_lost, 0U);
  writers.stop();
  EXPECT_GT(writers.rounds(), 0U);
  EXPECT_EQ(writers.wrong(), 0U);
  const auto content = read(0, capacity);
  ASSERT_TRUE(service_->close());
  service_.reset();
  paths_ = {paths_[0], paths_[1], paths_[6], paths_[3], fresh, paths_[5]};
  ASSERT_TRUE(inspected());
  EXPECT_TRUE(inspected()->is_clean);
  open();
  EXPECT_EQ(state(), "healthy");
  EXPECT_EQ(read(0, capacity), content);
}

TEST_F(ServiceTest, AReturningMemberIsNotRebuiltInFull) {
  create(0);
  open();
  auto content = written(0, capacity, 5);
  ASSERT_TRUE(service_->array().checkpoint());
  const auto before = service_->array().status().now.members[3].uuid;
  ASSERT_TRUE(ask({{"do", "fail"}, {"member", 3}}).contains("ok"));
  EXPECT_EQ(state(), "degraded");
  const auto part = written(block, block, 6);
  std::copy(part.begin(), part.end(), content.begin() + block);
  EXPECT_EQ(service_->array().status().stripes_missed, 1U);
  ASSERT_TRUE(ask({{"do", "replace"}, {"member", 3}, {"path", paths_[3]}}).contains("ok"));
  ASSERT_TRUE(becomes("healthy"));
  EXPECT_EQ(service_->array().status().now.members[3].uuid, before);
  EXPECT_EQ(service_->array().status().stripes_missed, 0U);
  for (const unsigned role : {0U, 1U})
    ASSERT_TRUE(service_->fail(role));
  EXPECT_EQ(read(0, capacity), content);
}

TEST_F(ServiceTest, AMemberTakenOutStaysOutUntilItIsReplaced) {
  create(0);
  open();
  auto content = written(0, capacity, 5);
  ASSERT_TRUE(service_->array().checkpoint());
  ASSERT_TRUE(ask({{"do", "fail"}, {"member", 3}}).contains("ok"));
  service_.reset();  // a crash
  for (const bool is_closed : {true, false, true}) {
    open();
    EXPECT_EQ(ask({{"do", "status"}})["members"][3]["state"], "out");
    EXPECT_EQ(ask({{"do", "status"}})["members"][3]["why"], "it was taken out on request");
    EXPECT_EQ(ask({{"do", "status"}})["members"][3]["on_request"], true);
    EXPECT_EQ(ask({{"do", "status"}})["members"][2]["on_request"], false);
    const auto part = written(block, block, 6);
    std::copy(part.begin(), part.end(), content.begin() + block);
    if (is_closed) {
      ASSERT_TRUE(service_->close());
    }
    service_.reset();
    EXPECT_EQ(inspected()->members[3].why, "it was taken out on request");
  }
  open();
  ASSERT_TRUE(service_->replace(3, paths_[3]));
  EXPECT_EQ(service_->array().status().stripes_missed, 1U);  // not rebuilt in full
  ASSERT_TRUE(becomes("healthy"));
  EXPECT_FALSE(service_->array().status().now.members[3].on_request);
  for (const unsigned role : {0U, 1U})
    ASSERT_TRUE(service_->fail(role));
  EXPECT_EQ(read(0, capacity), content);
}

TEST_F(ServiceTest, AMemberTakenOutAndMissingIsReportedAsBoth) {
  create(0);
  open();
  ASSERT_TRUE(service_->fail(3));
  ASSERT_TRUE(service_->close());
  service_.reset();
  std::filesystem::rename(paths_[3], paths_[3] + ".away");
  EXPECT_EQ(inspected()->members[3].why, "it was taken out on request and is missing");
  open();
  const auto member = ask({{"do", "status"}})["members"][3];
  EXPECT_EQ(member["why"], "it was taken out on request and is missing");
  EXPECT_EQ(member["on_request"], true);
}

TEST_F(ServiceTest, AMissingMemberThatIsTakenOutStaysOut) {
  create(0);
  std::filesystem::rename(paths_[1], paths_[1] + ".away");
  open();
  ASSERT_TRUE(service_->fail(1));
  const Status again = service_->fail(1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "member 1 is already out");
  std::filesystem::rename(paths_[1] + ".away", paths_[1]);
  ASSERT_TRUE(wait_for([&] { return service_->members().bytes(1) != 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(state(), "degraded");
  service_.reset();
  open();
  EXPECT_EQ(state(), "degraded");
}

TEST_F(ServiceTest, AFileThatWasAwayIsTakenBack) {
  create(0);
  open();
  const auto content = written(0, capacity, 9);
  ASSERT_TRUE(service_->close());
  service_.reset();
  std::filesystem::rename(paths_[1], paths_[1] + ".away");
  open();
  EXPECT_EQ(state(), "degraded");
  std::filesystem::rename(paths_[1] + ".away", paths_[1]);
  ASSERT_TRUE(becomes("healthy"));
  EXPECT_EQ(read(0, capacity), content);
}

TEST_F(ServiceTest, AFileThatWasDeletedOrTruncatedIsOut) {
  create(0);
  open();
  const auto content = written(0, 9 * block, 9);
  std::filesystem::remove(paths_[1]);
  std::filesystem::resize_file(paths_[4], 0);
  Json members;
  EXPECT_TRUE(wait_for([&] {
    members = ask({{"do", "status"}})["members"];
    return members[1]["state"] == "out" && members[4]["state"] == "out";
  }));
  // The reason of the array, not that the file is no longer open.
  EXPECT_EQ(members[0]["why"], "");
  EXPECT_EQ(members[1]["why"], paths_[1] + " was deleted");
  EXPECT_EQ(members[4]["why"], paths_[4] + " was truncated");
  EXPECT_EQ(read(0, 9 * block), content);
}

TEST_F(ServiceTest, ScrubFindsAndRepairs) {
  create(0);
  open();
  const auto content = written(0, capacity, 11);
  ASSERT_TRUE(service_->close());
  service_.reset();
  const std::uint64_t wrong = 16;  // blocks, in slots 20 .. 27
  {
    std::fstream file(paths_[5], std::ios::in | std::ios::out | std::ios::binary);
    const std::vector<char> noise(wrong * block, 'x');
    constexpr std::streamoff slots_at = 303104;  // docs/array-format.md
    file.seekp(slots_at + 20 * 2 * static_cast<std::streamoff>(block));
    file.write(noise.data(), static_cast<std::streamsize>(noise.size()));
  }
  open();
  ASSERT_TRUE(ask({{"do", "scrub"}}).contains("ok"));
  ASSERT_TRUE(wait_for([&] { return service_->scrub_state().scrubs_ended == 1; }));
  const Json status = ask({{"do", "status"}});
  EXPECT_EQ(status["scrub"]["found"], wrong);
  EXPECT_EQ(status["scrub"]["repaired"], wrong);
  EXPECT_EQ(status["scrub"]["lost"], 0);
  EXPECT_EQ(status["members"][5]["corrupt_blocks"], wrong);
  EXPECT_EQ(read(0, capacity), content);
}

TEST_F(ServiceTest, ARebuildReportsTheBlocksItCouldNotRecover) {
  create(0);
  open();
  written(0, capacity, 11);
  ASSERT_TRUE(service_->close());
  service_.reset();
  // Two members are lost, and a third has wrong bytes.
  std::filesystem::remove(paths_[4]);
  std::filesystem::remove(paths_[5]);
  {
    std::fstream file(paths_[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(off_t{600} * 1024);  // blocks of data
    file << std::string(std::size_t{64} * 1024, 'x');
  }
  open();
  ASSERT_TRUE(service_->replace(4, make_file("new4")));
  ASSERT_TRUE(service_->replace(5, make_file("new5")));
  ASSERT_TRUE(becomes("damaged"));
  const Json lost = ask({{"do", "status"}})["lost_blocks"];
  ASSERT_GT(lost["count"], 0U);
  const auto first = lost["first"].get<std::uint64_t>();
  std::vector<std::byte> bytes(block);
  EXPECT_FALSE(service_->array().read(first, bytes));
  // Writing everything again makes it healthy.
  const std::vector<std::byte> again = written(0, capacity, 12);
  EXPECT_EQ(state(), "healthy");
  EXPECT_EQ(ask({{"do", "status"}})["lost_blocks"]["count"], 0U);
  EXPECT_EQ(read(0, capacity), again);
}

TEST_F(ServiceTest, PauseStopsWorkAndSparesWaitIfConfigured) {
  create(1);
  open({.takes_spares = false});
  written(0, capacity, 1);
  ASSERT_TRUE(ask({{"do", "pause"}}).contains("ok"));
  ASSERT_TRUE(service_->fail(0));
  ASSERT_TRUE(ask({{"do", "scrub"}}).contains("ok"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  Json status = ask({{"do", "status"}});
  EXPECT_EQ(status["scrub"]["done"], 0);
  EXPECT_EQ(status["paused"], true);
  ASSERT_TRUE(ask({{"do", "resume"}}).contains("ok"));
  ASSERT_TRUE(wait_for([&] { return service_->scrub_state().scrubs_ended == 1; }));
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(ask({{"do", "status"}})["spares"].size(), 1U);
  ASSERT_TRUE(ask({{"do", "replace"}, {"member", 0}, {"path", paths_[6]}}).contains("ok"));
  ASSERT_TRUE(becomes("healthy"));
}

TEST_F(ServiceTest, ARebuildKeepsItsRate) {
  create(1);
  constexpr std::uint64_t rate = 256 * 1024;
  open({.rebuild_rate = rate, .takes_spares = false});
  written(0, capacity, 2);
  ASSERT_TRUE(service_->fail(0));
  const auto began = Pace::Clock::now();
  ASSERT_TRUE(service_->replace(0, paths_[6]));
  ASSERT_TRUE(becomes("healthy"));
  const std::chrono::duration<double> took = Pace::Clock::now() - began;
  // 512 KiB of a member. It does not wait after the last step, nor for a tenth of a second of debt.
  EXPECT_GT(took.count(), 1.5);
}

TEST_F(ServiceTest, TheLogIsEmptiedWhenIdle) {
  create(0);
  open();
  written(0, block, 4);
  EXPECT_GT(service_->array().status().log_bytes_used, 0U);
  EXPECT_TRUE(wait_for([&] { return service_->array().status().log_bytes_used == 0; }));
}

TEST_F(ServiceTest, WithoutCloseItIsRecovered) {
  create(0);
  open();
  const auto content = written(3 * block, 5 * block, 8);
  service_.reset();
  ASSERT_TRUE(inspected());
  EXPECT_FALSE(inspected()->is_clean);
  open();
  EXPECT_GT(service_->array().status().batches_replayed, 0U);
  EXPECT_EQ(read(3 * block, 5 * block), content);
}

// Its state in memory is stale once another host has written.
TEST_F(ServiceTest, AReadOnlyServerStopsWhenAnotherHostWrites) {
  create(0);
  open({.is_read_only = true, .lease_milliseconds = 10});
  EXPECT_EQ(read(0, block), std::vector<std::byte>(block));
  // The other host does not share the locks of this one, so it writes to copies.
  std::vector<std::string> copies;
  for (const std::string& path : paths_) {
    copies.push_back(path + ".copy");
    std::filesystem::copy_file(path, copies.back());
  }
  auto other = Service::open(copies, {});
  ASSERT_TRUE(other) << other.error().message;
  ASSERT_TRUE((*other)->array().write(0, std::vector(block, std::byte{1}), Durability::durable));
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    std::fstream file(paths_[i], std::ios::in | std::ios::out | std::ios::binary);
    file << *read_file(copies[i]);
  }
  Status last = Done{};
  EXPECT_TRUE(wait_for([&] {
    std::vector<std::byte> some(block);
    last = service_->array().read(0, some);
    return !last;
  })) << "old bytes are still read";
  ASSERT_FALSE(last);
  EXPECT_THAT(last.error().message, HasSubstr("another server has opened the array for writing"));
}

TEST_F(ServiceTest, RefusesInvalidRequests) {
  create(0);
  open();
  EXPECT_THAT(error_of("fail"), HasSubstr("usage: the request is fail"));
  EXPECT_THAT(error_of(R"({"do":"sing"})"), HasSubstr("usage: do is sing"));
  EXPECT_THAT(error_of(R"({"do":"fail"})"), HasSubstr("usage: member is missing"));
  EXPECT_THAT(error_of(R"({"do":"fail","member":-1})"), HasSubstr("usage: member is -1"));
  EXPECT_THAT(error_of(R"({"do":"fail","member":6})"), HasSubstr("usage: member is 6"));
  EXPECT_THAT(error_of(R"({"do":"add","path":"m9"})"), HasSubstr("usage: path is m9"));
  EXPECT_THAT(error_of(R"({"do":"add"})"), HasSubstr("usage: path is missing"));
  EXPECT_THAT(error_of(R"({"do":"add","path":9})"), HasSubstr("usage: path is missing"));
  EXPECT_THAT(error_of(R"({"do":"rate","rebuild":"x"})"), HasSubstr("usage: rebuild is"));
  EXPECT_THAT(error_of(Json{{"do", "add"}, {"path", paths_[0]}}.dump()),
              HasSubstr("are the same file: it is member 0 and in use"));
  EXPECT_THAT(error_of(R"({"do":"add","path":"/nowhere/at/all"})"), HasSubstr("io: cannot open"));
  ask({{"do", "fail"}, {"member", 0}});
  ask({{"do", "fail"}, {"member", 1}});
  EXPECT_THAT(error_of(R"({"do":"fail","member":2})"),
              HasSubstr("refused: 2 members are out or rebuilding"));
  ask({{"do", "rate"}, {"rebuild", 1000}, {"scrub", 2000}});
  EXPECT_EQ(ask({{"do", "status"}})["rates"].dump(), R"({"rebuild":1000,"scrub":2000})");
}

TEST_F(ServiceTest, OnlyForceErasesAFileThatIsNotEmpty) {
  create(0);
  open();
  ASSERT_TRUE(service_->fail(3));
  const std::string precious = make_file("precious");
  for (const std::uint64_t at : {std::uint64_t{0}, member_bytes / 2 + 5, member_bytes - 1}) {
    std::filesystem::resize_file(precious, 0);
    std::filesystem::resize_file(precious, member_bytes);
    std::fstream(precious, std::ios::in | std::ios::out).seekp(static_cast<off_t>(at)) << 'x';
    for (const Status& refused : {service_->replace(3, precious), service_->add_spare(precious)}) {
      ASSERT_FALSE(refused) << at;
      EXPECT_EQ(refused.error().message, precious + " is not empty (2.0 MB); --force erases it");
    }
  }
  ASSERT_TRUE(service_->replace(3, precious, true));
  ASSERT_TRUE(becomes("healthy"));
  // A file of written zeros is empty.
  const std::string zeros = make_file("zeros");
  std::ofstream(zeros) << std::string(member_bytes, '\0');
  const Status added = service_->add_spare(zeros);
  EXPECT_TRUE(added) << added.error().message;
}

TEST_F(ServiceTest, LookingChangesNothing) {
  create(1);
  open({.takes_spares = false});
  written(0, 9 * block, 8);
  ASSERT_TRUE(service_->fail(5));
  service_.reset();
  const auto bytes_of = [&] {
    std::string all;
    for (const std::string& path : paths_)
      all += *read_file(path);
    return all;
  };
  const std::string before = bytes_of();
  for (const std::string& path : paths_) {
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  }
  const auto members = FileMembers::open(paths_, MemberAccess::read);
  ASSERT_TRUE(members) << members.error().message;
  const auto found = array::inspect(**members);
  ASSERT_TRUE(found) << found.error().message;
  const Json json = inspection_json(**members, *found);
  EXPECT_EQ(json["state"], "degraded");
  EXPECT_EQ(json["members"][5]["state"], "out");
  EXPECT_EQ(json["spares"].size(), 1U);
  EXPECT_EQ(json["clean"], false);
  EXPECT_EQ(json["members"].size(), 6U);
  EXPECT_EQ(json["members"][1]["path"], paths_[1]);
  EXPECT_EQ(json["stripes"]["all"], 64);
  EXPECT_EQ(before, bytes_of());
}

TEST_F(ServiceTest, ReportsTooManyMissingMembersWithoutOpening) {
  create(0);
  paths_.resize(3);
  const auto members = FileMembers::open(paths_, MemberAccess::read);
  ASSERT_TRUE(members);
  const auto found = array::inspect(**members);
  ASSERT_TRUE(found) << found.error().message;
  const Json json = inspection_json(**members, *found);
  EXPECT_EQ(json["state"], "failed");
  EXPECT_EQ(json["why"], "3 members are out or rebuilding; at most 2 may be");
  EXPECT_EQ(json["may_fail"], 0);
}

}  // namespace
}  // namespace calpe::array
