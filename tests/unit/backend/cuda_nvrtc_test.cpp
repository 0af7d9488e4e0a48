// SPDX-License-Identifier: Apache-2.0
// Uses a third-party compiler: NVRTC translates the CUDA C of programs, and the PTX interpreter
// runs the result. This shows that the interpreter supports more than our own PTX.
#include <array>
#include <dlfcn.h>

#include "base/text.hpp"
#include "conformance/random_program.hpp"
#include "emit/emit.hpp"
#include "ir/interpret.hpp"
#include "unit/backend/cuda_bench.hpp"

namespace calpe::backend::cuda {
namespace {

// The NVRTC functions needed for a translation.
struct Nvrtc {
  void* library = nullptr;
  int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*);
  int (*compile)(void*, int, const char* const*);
  int (*ptx_size)(void*, std::size_t*);
  int (*ptx)(void*, char*);
  int (*destroy)(void**);

  Nvrtc() {
    for (const char* name :
         {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == nullptr) return;
    find(create, "nvrtcCreateProgram");
    find(compile, "nvrtcCompileProgram");
    find(ptx_size, "nvrtcGetPTXSize");
    find(ptx, "nvrtcGetPTX");
    find(destroy, "nvrtcDestroyProgram");
  }

  std::string translate(const std::string& source) const {
    void* program = nullptr;
    EXPECT_EQ(create(&program, source.c_str(), "x.cu", 0, nullptr, nullptr), 0);
    const char* option = "--gpu-architecture=compute_75";
    EXPECT_EQ(compile(program, 1, &option), 0);
    std::size_t bytes = 0;
    EXPECT_EQ(ptx_size(program, &bytes), 0);
    std::string made(bytes, '\0');
    EXPECT_EQ(ptx(program, made.data()), 0);
    EXPECT_EQ(destroy(&program), 0);
    return made;
  }

 private:
  template <class F>
  void find(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    EXPECT_NE(function, nullptr) << name;
  }
};

class CudaNvrtcTest : public CudaBench {
 protected:
  static constexpr std::size_t unit_bytes = 324;

  std::vector<std::byte> run(const std::string& ptx, const std::vector<std::byte>& data,
                             std::size_t output_bytes, bool is_words) {
    const auto module = build(ptx, {is_words ? "x_4" : "x"}, 64);
    EXPECT_TRUE(module) << module.error().message;
    if (!module) return {};
    const gpu::Place n = put(std::span(data));
    const gpu::Place r = allocate(output_bytes);
    // The third argument of the byte kernel is its start.
    const gpu::Launch launch = launch_of(n, r, unit_bytes / (is_words ? 4 : 1));
    EXPECT_TRUE(queue_->launch(**module, launch));
    return get<std::byte>(r, output_bytes);
  }
};

TEST_F(CudaNvrtcTest, ProgramsGiveTheSameBytesAsOurPtx) {
  const Nvrtc nvrtc;
  if (nvrtc.library == nullptr) GTEST_SKIP() << "no libnvrtc";
  conformance::Random random = conformance::Random::of_test("cuda nvrtc");
  for (unsigned round = 0; round < 8; ++round) {
    const ir::Program program = conformance::random_program(
        random, conformance::field_of(3),
        {.dialect = ir::Dialect::xor_, .input_shards = 5, .output_shards = 3, .temporaries = 12});
    std::vector<std::byte> data(program.inputs() * unit_bytes);
    random.fill(data);
    std::vector<std::byte> expected(program.outputs() * unit_bytes);
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    for (std::size_t u = 0; u < program.inputs(); ++u)
      inputs.push_back(&data[u * unit_bytes]);
    for (std::size_t u = 0; u < program.outputs(); ++u)
      outputs.push_back(&expected[u * unit_bytes]);
    ir::interpret(program, inputs, outputs, unit_bytes);

    const emit::Options options = {.unit_bytes = unit_bytes, .name = "x"};
    const auto ours = emit::emit(program, emit::Target::ptx, options);
    const auto source = emit::emit(program, emit::Target::cuda, options);
    ASSERT_TRUE(ours && source);
    const std::string theirs = nvrtc.translate(*source);
    ASSERT_NE(theirs.find("NVIDIA"), std::string::npos);
    for (const bool is_words : {true, false}) {
      EXPECT_EQ(run(*ours, data, expected.size(), is_words), expected);
      EXPECT_EQ(run(theirs, data, expected.size(), is_words), expected);
    }
  }
}

}  // namespace
}  // namespace calpe::backend::cuda
