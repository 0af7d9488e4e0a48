// SPDX-License-Identifier: Apache-2.0
#include "opt/fuse_xors.hpp"

#include <algorithm>
#include <iterator>

namespace calpe::opt {

namespace {

class Fuser {
 public:
  Fuser(Sums& sums, Price price) : sums_(sums), price_(price), readers_(sums.shared) {
    for (Node node = sums.inputs; node < sums.inputs + sums.terms.size(); ++node) {
      for (const Node term : sums.of(node)) {
        if (!sums.is_input(term)) readers_of(term).push_back(node);
      }
    }
  }

  void run() {
    bool changed = true;
    while (changed) {
      changed = false;
      // From the last: dissolving a sum may free those it reads.
      for (Node node = sums_.inputs + sums_.shared; node-- > sums_.inputs;)
        changed |= try_dissolve(node);
    }
    drop_unread();
  }

 private:
  std::vector<Node>& readers_of(Node node) { return readers_[node - sums_.inputs]; }

  // Returns the terms that are in exactly one of both.
  void add_terms(const std::vector<Node>& a, const std::vector<Node>& b) {
    merged_.clear();
    std::ranges::set_symmetric_difference(a, b, std::back_inserter(merged_));
  }

  // Computes the reader's terms with `node` replaced by its terms, in merged_.
  void substitute(Node reader, Node node) {
    without_ = sums_.of(reader);
    std::erase(without_, node);
    add_terms(without_, sums_.of(node));
  }

  bool try_dissolve(Node node) {
    const std::vector<Node>& readers = readers_of(node);
    if (readers.empty()) return false;
    std::ptrdiff_t change = -cost(sums_.of(node).size());
    for (const Node reader : readers) {
      substitute(reader, node);
      change += cost(merged_.size()) - cost(sums_.of(reader).size());
    }
    if (change > 0 || (change == 0 && readers.size() > 1)) return false;
    for (const Node reader : std::vector<Node>(readers)) {
      substitute(reader, node);
      forget_reader(reader);
      sums_.of(reader) = merged_;
      for (const Node term : merged_) {
        if (!sums_.is_input(term)) readers_of(term).push_back(reader);
      }
    }
    forget_reader(node);
    sums_.of(node).clear();
    return true;
  }

  void forget_reader(Node reader) {
    for (const Node term : sums_.of(reader)) {
      if (!sums_.is_input(term)) std::erase(readers_of(term), reader);
    }
  }
  std::ptrdiff_t cost(std::size_t terms) const {
    return static_cast<std::ptrdiff_t>(price_of(terms, price_));
  }

  // Renumbers the remaining sums.
  void drop_unread() {
    std::vector<Node> new_number(sums_.inputs + sums_.terms.size());
    Sums kept{.inputs = sums_.inputs, .shared = 0, .outputs = sums_.outputs, .terms = {}};
    for (Node node = 0; node < sums_.inputs; ++node)
      new_number[node] = node;
    for (Node node = sums_.inputs; node < new_number.size(); ++node) {
      const bool is_shared = !sums_.is_output(node);
      if (is_shared && readers_of(node).empty()) continue;
      new_number[node] = static_cast<Node>(kept.inputs + kept.terms.size());
      kept.shared += is_shared ? 1 : 0;
      std::vector<Node> terms = std::move(sums_.of(node));
      for (Node& term : terms)
        term = new_number[term];
      kept.terms.push_back(std::move(terms));
    }
    sums_ = std::move(kept);
  }

  Sums& sums_;
  const Price price_;
  std::vector<std::vector<Node>> readers_;  // of shared sums
  std::vector<Node> merged_;
  std::vector<Node> without_;
};

}  // namespace

void fuse_xors(Sums& sums, Price price) {
  Fuser(sums, price).run();
}

}  // namespace calpe::opt
