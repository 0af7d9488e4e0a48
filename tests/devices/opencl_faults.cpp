// SPDX-License-Identifier: Apache-2.0
// The functions of opencl_faults.h and the forwarders: one template, instantiated for every
// function that the backend uses and exported under its name.
#include "devices/opencl_faults.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "backend/opencl/opencl_api.hpp"

#define CALPE_CL_EXPORT __attribute__((visibility("default")))
#define CALPE_CL_ALL(F)     \
  CALPE_OPENCL_FUNCTIONS(F) \
  CALPE_OPENCL_SVM_FUNCTIONS(F)

namespace {

#define CALPE_CL_NUMBER(name) number_##name,
enum Number : std::size_t { CALPE_CL_ALL(CALPE_CL_NUMBER) number_count };
#define CALPE_CL_NAME(name) #name,
constexpr std::array<const char*, number_count> names = {CALPE_CL_ALL(CALPE_CL_NAME)};

constexpr bool ends_something(std::string_view name) {
  return name.starts_with("clRelease") || name == "clSVMFree";
}
constexpr bool describes(std::string_view name) {
  return name == "clGetPlatformInfo" || name == "clGetDeviceInfo" ||
         name == "clGetProgramBuildInfo" || name == "clGetKernelWorkGroupInfo";
}

// A device with lower limits than the real one, which it reports and enforces.
struct Limits {
  std::size_t allocation_bytes = 0;  // 0: same as the real one
  std::size_t group_items = 0;
  bool is_gpu = false;
  bool is_integrated = false;
  static constexpr std::size_t groups = 65535;  // in each dimension, if anything is limited

  static const Limits& instance() {
    static const Limits limits = {.allocation_bytes = number("CALPE_CL_ALLOCATION_MAX"),
                                  .group_items = number("CALPE_CL_GROUP_MAX"),
                                  .is_gpu = number("CALPE_CL_GPU") != 0,
                                  .is_integrated = number("CALPE_CL_GPU") == 2};
    return limits;
  }
  bool any() const { return allocation_bytes != 0 || group_items != 0; }

  // Replaces the answer if it is one of the limits; the real one has been written.
  void describe(cl_device_info what, void* value) const {
    if (value == nullptr) return;
    if (is_gpu && what == CL_DEVICE_TYPE) {
      *static_cast<cl_device_type*>(value) = CL_DEVICE_TYPE_GPU;
    }
    if (is_gpu && what == CL_DEVICE_SVM_CAPABILITIES) {
      *static_cast<cl_bitfield*>(value) =
          is_integrated ? CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_SYSTEM : 0;
    }
    if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE && allocation_bytes != 0) {
      *static_cast<cl_ulong*>(value) = allocation_bytes;
    }
    const bool is_items =
        what == CL_DEVICE_MAX_WORK_GROUP_SIZE || what == CL_DEVICE_MAX_WORK_ITEM_SIZES;
    if (is_items && group_items != 0) *static_cast<std::size_t*>(value) = group_items;
  }
  cl_int check_launch(const std::size_t* global, const std::size_t* local) const {
    if (group_items != 0 && local[0] > group_items) return CL_INVALID_WORK_GROUP_SIZE;
    for (std::size_t side = 0; side < 3 && any(); ++side) {
      if (global[side] / local[side] > groups) return CL_OUT_OF_RESOURCES;
    }
    return CL_SUCCESS;
  }

 private:
  static std::size_t number(const char* variable) {
    const char* value = std::getenv(variable);
    return value == nullptr ? 0 : std::strtoull(value, nullptr, 10);
  }
};

void* real_symbol(const char* name) {
  static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : dlsym(library, name);
}

using Callback = void(CL_CALLBACK*)(cl_event, cl_int, void*);

enum class Fate { goes_on, is_swallowed };

class Faults {
 public:
  static Faults& instance() {
    static Faults& faults = *new Faults;  // never destroyed: threads may outlive main()
    return faults;
  }

  void reset() {
    std::vector<Held> held;
    {
      const std::lock_guard lock(mutex_);
      failure_ = {};
      function_failures_.clear();
      hangs_at_ = never;
      spoiled_ = never;
      is_lost_ = hangs_ = false;
      spill_bytes_ = 0;
      counts_ = {};
      held.swap(held_);
    }
    // Not before the command has ended.
    static const auto set_callback =
        reinterpret_cast<decltype(&::clSetEventCallback)>(real_symbol("clSetEventCallback"));
    for (const Held& late : held) {
      if (set_callback(late.event, CL_COMPLETE, late.callback, late.user) != CL_SUCCESS) {
        late.callback(late.event, CL_COMPLETE, late.user);
      }
    }
  }
  void fail(std::uint64_t index, int code, bool loses) {
    const std::lock_guard lock(mutex_);
    failure_ = {.at = counts_.calls + index, .code = code, .loses = loses};
  }
  void fail_function(const char* name, std::uint64_t index, int code) {
    const std::lock_guard lock(mutex_);
    function_failures_[name] = {.at = index, .code = code};
  }
  void hang_launch(std::uint64_t index) {
    const std::lock_guard lock(mutex_);
    hangs_at_ = counts_.launches + index;
  }
  void spill(std::uint64_t word_bytes, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    spill_word_ = word_bytes;
    spill_bytes_ = bytes;
  }
  // Remembers the word of a program by its source, for spills().
  void note_source(cl_program program, const char* source) {
    const std::string_view all(source);
    const std::lock_guard lock(mutex_);
    words_[program] = all.find("typedef uint4 ") != all.npos      ? 16  // or slices of 2 x 16
                      : all.find("typedef uint word") != all.npos ? 4
                                                                  : 0;
  }
  void reach_all(cl_kernel kernel) {
    const std::lock_guard lock(mutex_);
    reaching_.insert(kernel);
  }
  bool reaches_all(cl_kernel kernel) {
    const std::lock_guard lock(mutex_);
    return reaching_.contains(kernel);
  }
  std::uint64_t spills(cl_program program) {
    const std::lock_guard lock(mutex_);
    const auto found = words_.find(program);
    return found != words_.end() && found->second >= spill_word_ ? spill_bytes_ : 0;
  }
  void spoil_launch(std::uint64_t index) {
    const std::lock_guard lock(mutex_);
    spoiled_ = counts_.launches + index;
  }
  calpe_cl_counts counts() {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

  // 0, or the result to return instead of making the call.
  cl_int judge_call(std::size_t number) {
    const std::string_view name = names[number];
    if (ends_something(name)) return CL_SUCCESS;
    const std::lock_guard lock(mutex_);
    if (const auto planned = function_failures_.find(name);
        planned != function_failures_.end() && planned->second.at-- == 0) {
      const cl_int code = planned->second.code;
      function_failures_.erase(planned);
      return code;
    }
    if (is_lost_) return failure_.code;
    if (describes(name) || counts_.calls++ != failure_.at) return CL_SUCCESS;
    is_lost_ = failure_.loses;
    return failure_.code;
  }
  Fate judge_launch() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = counts_.launches++;
    if (number >= hangs_at_) hangs_ = true;
    return number == spoiled_ ? Fate::is_swallowed : Fate::goes_on;
  }
  bool hangs() {
    const std::lock_guard lock(mutex_);
    return hangs_;
  }
  bool holds_back(cl_event event, Callback callback, void* user) {
    const std::lock_guard lock(mutex_);
    if (hangs_) held_.push_back({.event = event, .callback = callback, .user = user});
    return hangs_;
  }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  struct Planned {
    std::uint64_t at = never;
    cl_int code = CL_SUCCESS;
    bool loses = false;
  };
  struct Held {
    cl_event event = nullptr;
    Callback callback = nullptr;
    void* user = nullptr;
  };

  std::mutex mutex_ = {};
  Planned failure_ = {};
  std::map<std::string, Planned, std::less<>> function_failures_ = {};
  std::uint64_t hangs_at_ = never;
  std::uint64_t spoiled_ = never;
  std::map<cl_program, std::uint64_t> words_ = {};
  std::set<cl_kernel> reaching_ = {};
  std::uint64_t spill_word_ = 0;
  std::uint64_t spill_bytes_ = 0;
  bool hangs_ = false;
  bool is_lost_ = false;
  std::vector<Held> held_ = {};
  calpe_cl_counts counts_ = {};
};

template <class Function>
Function real(std::size_t number) {
  static std::array<void*, number_count>& found = *[] {
    auto* all = new std::array<void*, number_count>;
    for (std::size_t i = 0; i < number_count; ++i)
      (*all)[i] = real_symbol(names[i]);
    return all;
  }();
  return reinterpret_cast<Function>(found[number]);
}

template <std::size_t number, class Function>
struct Forward;
template <std::size_t number, class R, class... Arguments>
struct Forward<number, R(Arguments...)> {
  static R call(Arguments... arguments) {
    const cl_int code = Faults::instance().judge_call(number);
    if (code != CL_SUCCESS) return failed(code, arguments...);
    return forwarded(arguments...);
  }

 private:
  // The error code is the return value, or goes to the last argument.
  static R failed([[maybe_unused]] cl_int code, [[maybe_unused]] Arguments... arguments) {
    if constexpr (std::is_same_v<R, cl_int>) {
      return code;
    } else if constexpr (!std::is_void_v<R>) {
      const std::tuple<Arguments...> all(arguments...);
      const auto last = std::get<sizeof...(Arguments) - 1>(all);
      if constexpr (std::is_same_v<std::remove_const_t<decltype(last)>, cl_int*>) {
        if (last != nullptr) *last = code;
      }
      return nullptr;
    }
  }

  static R forwarded(Arguments... arguments) {
    [[maybe_unused]] const std::tuple<Arguments...> all(arguments...);
    if constexpr (number == number_clCreateBuffer) {
      const std::size_t most = Limits::instance().allocation_bytes;
      if (most != 0 && std::get<2>(all) > most) return failed(CL_INVALID_BUFFER_SIZE, arguments...);
    }
    if constexpr (number == number_clGetDeviceInfo) {
      constexpr cl_device_info pci_bus_info = 0x410F;
      if (Limits::instance().is_gpu && std::get<1>(all) == pci_bus_info) {
        constexpr std::array<cl_uint, 4> parts = {0, 0x3b, 0, 1};
        *static_cast<std::array<cl_uint, 4>*>(std::get<3>(all)) = parts;
        return CL_SUCCESS;
      }
      const cl_int status = real<R (*)(Arguments...)>(number)(arguments...);
      if (status == CL_SUCCESS) Limits::instance().describe(std::get<1>(all), std::get<3>(all));
      return status;
    }
    if constexpr (number == number_clCreateProgramWithSource) {
      const R program = real<R (*)(Arguments...)>(number)(arguments...);
      Faults::instance().note_source(program, *std::get<2>(all));
      return program;
    }
    if constexpr (number == number_clGetKernelWorkGroupInfo) {
      cl_program program = nullptr;
      real<decltype(&::clGetKernelInfo)>(number_clGetKernelInfo)(
          std::get<0>(all), CL_KERNEL_PROGRAM, sizeof(cl_program), static_cast<void*>(&program),
          nullptr);
      if (std::get<2>(all) != CL_KERNEL_PRIVATE_MEM_SIZE) return CL_INVALID_VALUE;
      *static_cast<cl_ulong*>(std::get<4>(all)) = Faults::instance().spills(program);
      return CL_SUCCESS;
    }
    if constexpr (number == number_clEnqueueNDRangeKernel) {
      const cl_int refused = std::get<2>(all) == 3 ? Limits::instance().check_launch(
                                                         std::get<4>(all), std::get<5>(all))
                                                   : CL_SUCCESS;
      if (refused != CL_SUCCESS) return refused;
      if (Limits::instance().is_integrated && !Faults::instance().reaches_all(std::get<1>(all))) {
        return CL_INVALID_OPERATION;
      }
      if (Faults::instance().judge_launch() == Fate::is_swallowed) {
        static const auto mark = reinterpret_cast<decltype(&::clEnqueueMarkerWithWaitList)>(
            real_symbol("clEnqueueMarkerWithWaitList"));
        return mark(std::get<0>(all), 0, nullptr, std::get<8>(all));
      }
    }
    if constexpr (number == number_clSetKernelExecInfo) {
      if (std::get<1>(all) == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM) {
        Faults::instance().reach_all(std::get<0>(all));
        return CL_SUCCESS;
      }
    }
    if constexpr (number == number_clSetEventCallback) {
      if (Faults::instance().holds_back(std::get<0>(all), std::get<2>(all), std::get<3>(all))) {
        return CL_SUCCESS;
      }
    }
    if constexpr (number == number_clGetEventInfo) {
      if (Faults::instance().hangs()) {
        *static_cast<cl_int*>(std::get<3>(all)) = CL_SUBMITTED;
        return CL_SUCCESS;
      }
    }
    return real<R (*)(Arguments...)>(number)(arguments...);
  }
};

}  // namespace

extern "C" {

// The resolvers fill the linker's address table, which gives a template a C name.
#define CALPE_CL_DEFINE(name)                               \
  decltype(&::name) resolve_##name() {                      \
    return &Forward<number_##name, decltype(::name)>::call; \
  }                                                         \
  CALPE_CL_EXPORT __attribute__((ifunc("resolve_" #name))) decltype(::name) name;
CALPE_CL_ALL(CALPE_CL_DEFINE)

CALPE_CL_EXPORT void calpe_cl_reset() {
  Faults::instance().reset();
}
CALPE_CL_EXPORT void calpe_cl_fail(uint64_t index, int code) {
  Faults::instance().fail(index, code, false);
}
CALPE_CL_EXPORT void calpe_cl_lose(uint64_t index, int code) {
  Faults::instance().fail(index, code, true);
}
CALPE_CL_EXPORT void calpe_cl_fail_function(const char* name, uint64_t index, int code) {
  Faults::instance().fail_function(name, index, code);
}
CALPE_CL_EXPORT void calpe_cl_hang_launch(uint64_t index) {
  Faults::instance().hang_launch(index);
}
CALPE_CL_EXPORT void calpe_cl_spoil_launch(uint64_t index) {
  Faults::instance().spoil_launch(index);
}
CALPE_CL_EXPORT void calpe_cl_spill(uint64_t word_bytes, uint64_t bytes) {
  Faults::instance().spill(word_bytes, bytes);
}
CALPE_CL_EXPORT void calpe_cl_count(calpe_cl_counts* counts) {
  *counts = Faults::instance().counts();
}
}
