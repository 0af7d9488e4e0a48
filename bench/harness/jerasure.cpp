// SPDX-License-Identifier: Apache-2.0
// Opens Jerasure and offers its two techniques.
#include "bench/harness/jerasure.hpp"

#include <climits>
#include <fmt/format.h>

#include "bench/harness/peers.hpp"

namespace calpe::bench {

namespace {

class JerasurePeer : public Peer {
 public:
  JerasurePeer(SharedLibrary library, const JerasureFunctions& functions)
      : library_(std::move(library)), functions_(functions) {}

  std::string_view library() const noexcept override { return library_.path(); }
  std::string_view version() const noexcept override { return library_.version(); }

  std::vector<std::unique_ptr<Coder>> prepare(const CoderRequest& request) const override {
    std::vector<std::unique_ptr<Coder>> coders;
    // Jerasure calls exit() for wrong arguments, so filter them here.
    if (request.shape.data_shards + request.shape.parity_shards > 256) return coders;
    if (request.shard_bytes == 0 || request.shard_bytes > INT_MAX) return coders;
    if (request.shard_bytes % sizeof(long) != 0) return coders;
    coders.push_back(make_jerasure_vandermonde(functions_, request));
    if (auto cauchy = make_jerasure_cauchy(functions_, request))
      coders.push_back(std::move(cauchy));
    return coders;
  }

 private:
  SharedLibrary library_;
  JerasureFunctions functions_;
};

}  // namespace

Result<JerasureFunctions> find_jerasure(const SharedLibrary& library) {
  JerasureFunctions f;
  if (!library.find("reed_sol_vandermonde_coding_matrix", f.reed_sol_vandermonde_coding_matrix) ||
      !library.find("jerasure_matrix_encode", f.jerasure_matrix_encode) ||
      !library.find("jerasure_make_decoding_matrix", f.jerasure_make_decoding_matrix) ||
      !library.find("cauchy_original_coding_matrix", f.cauchy_original_coding_matrix) ||
      !library.find("cauchy_good_general_coding_matrix", f.cauchy_good_general_coding_matrix) ||
      !library.find("jerasure_matrix_to_bitmatrix", f.jerasure_matrix_to_bitmatrix) ||
      !library.find("jerasure_smart_bitmatrix_to_schedule",
                    f.jerasure_smart_bitmatrix_to_schedule) ||
      !library.find("jerasure_schedule_encode", f.jerasure_schedule_encode) ||
      !library.find("jerasure_make_decoding_bitmatrix", f.jerasure_make_decoding_bitmatrix) ||
      !library.find("jerasure_free_schedule", f.jerasure_free_schedule)) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} lacks Jerasure's functions (jerasure_matrix_encode and others); "
                             "expected a libJerasure.so.2",
                             library.path())};
  }
  return f;
}

Result<std::unique_ptr<Peer>> open_jerasure(SharedLibrary library) {
  auto functions = find_jerasure(library);
  if (!functions) return std::move(functions).error();
  return std::unique_ptr<Peer>(std::make_unique<JerasurePeer>(std::move(library), *functions));
}

}  // namespace calpe::bench
