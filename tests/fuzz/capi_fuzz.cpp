// SPDX-License-Identifier: Apache-2.0
// Uses the C ABI as a hostile or careless program would: codecs from any spec, plans for any
// shards, work in any order. Successful calls give the model's bytes; all others return an error.
// Nothing leaks, and nothing outside a buffer is touched.
//
// The input is a list of steps, each a byte followed by the step's arguments.
#include "fuzz/capi_session.hpp"

namespace calpe::fuzz {

void Session::run() {
  for (unsigned steps = 0; steps < 6 && !input_.at_end(); ++steps) {
    const unsigned what = input_.below(20);
    auto& held = codecs_[what % codecs_.size()];
    switch (held ? what : what % 4) {
      case 0:
        take_codec();
        break;
      case 1:  // making a codec takes longest
        input_.below(16) == 15 ? make_codec() : take_codec();
        break;
      case 2:
        input_.below(8) == 7 ? make_from_matrix() : take_codec();
        break;
      case 3:
        ask();
        break;
      case 4:
      case 5:
      case 6:
        make_decode_plan(*held);
        break;
      case 7:
        make_update_plan(*held);
        break;
      case 8:
        make_partial_plan(*held);
        break;
      case 9:
        encode(*held);
        break;
      case 10:
        switch (input_.below(4)) {
          case 0:
          case 1:
            object(*held);
            break;
          case 2:
            stream(*held);
            break;
          default:
            encode(*held);
            break;
        }
        break;
      case 11:
        run_plan(*held);
        break;
      case 12:
        rebuild(*held);
        break;
      case 13:
        run_many(*held);
        break;
      case 14:
        update(*held);
        break;
      case 15:
        verify(*held);
        break;
      case 16:
        locate(*held);
        break;
      case 17:
        pass_null(*held);
        break;
      case 18:  // plans outlive their codec
        held.reset();
        break;
      default:
        plans_[input_.below(plans_.size())].reset();
        break;
    }
  }
}

void Session::ask() {
  switch (input_.below(8)) {
    case 0:
      return ask_about_code();
    case 1:
    case 2:
      return field();
    case 3:
    case 4:
      return spec_bytes();
    default:
      return apply_matrix();
  }
}

}  // namespace calpe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calpe::fuzz::Session(calpe::fuzz::Input({data, size})).run();
  return 0;
}
