// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>

#include "base/env.hpp"
#include "base/process_fork.hpp"

namespace calpe::logging {

namespace {

struct Receiver {
  Handler handler = nullptr;
  void* user = nullptr;
};

// The mutex is held while a handler runs, so that the handler can be replaced at any time. A
// handler is the caller's code: fork() cannot wait for it, and the handler itself may call fork().
// So a child gets a new mutex, unless its own thread holds it.
class Sink final : private ForkListener {
 public:
  Sink() noexcept { attach(); }
  ~Sink() { detach(); }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void set(const Receiver& receiver) noexcept {
    const Held held(*this);
    // Switch in one step, so that a forked child never sees one handler with the other's data.
    receivers_[1 - current_] = receiver;
    current_ = 1 - current_;
  }

  void write(const char* line) noexcept {
    const Held held(*this);
    if (const Receiver& receiver = receivers_[current_]; receiver.handler != nullptr) {
      receiver.handler(line, receiver.user);
    } else if (environment_view("CALPE_LOG") == "stderr") {
      static_cast<void>(std::fprintf(stderr, "calpe: %s\n", line));
    }
  }

 private:
  class Held {
   public:
    explicit Held(Sink& sink) : sink_(sink) {
      sink_.mutex_.lock();
      sink_.owner_ = std::this_thread::get_id();
      sink_.is_owned_ = true;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
      sink_.is_owned_ = false;
      sink_.mutex_.unlock();
    }

   private:
    Sink& sink_;
  };

  void before_fork() noexcept override {}
  void after_in_parent() noexcept override {}
  void after_in_child() noexcept override {
    if (is_owned_ && owner_.load() == std::this_thread::get_id()) return;
    is_owned_ = false;
    new (&mutex_) std::mutex;
  }

  std::mutex mutex_;
  std::atomic<bool> is_owned_ = false;
  std::atomic<std::thread::id> owner_ = {};  // while is_owned_
  std::array<Receiver, 2> receivers_ = {};
  std::atomic<std::size_t> current_ = 0;
};

// Created when the library is loaded and never destroyed: a device may be disabled during exit.
alignas(Sink) std::array<std::byte, sizeof(Sink)> place_of_sink;
Sink& sink = *new (&place_of_sink) Sink;

}  // namespace

void set_handler(Handler handler, void* user) noexcept {
  sink.set({.handler = handler, .user = user});
}

void write(const std::string& line) noexcept {
  sink.write(line.c_str());
}

}  // namespace calpe::logging
