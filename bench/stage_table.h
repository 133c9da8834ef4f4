// Times of stages, kept in the order in which they first came; medians at the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace proofline::bench {

class StageTable {
 public:
  void Add(std::string_view stage, uint64_t ns) {
    auto it = std::find_if(rows_.begin(), rows_.end(), [&](const auto& row) { return row.first == stage; });
    if (it == rows_.end()) it = rows_.insert(it, {std::string(stage), {}});
    it->second.push_back(ns);
  }
  // 0 for a stage that never came.
  double MedianMs(std::string_view stage) const {
    for (const auto& [name, ns] : rows_)
      if (name == stage) return Median(ns);
    return 0;
  }
  void Print() const {
    for (const auto& [stage, ns] : rows_) {
      const auto [least, most] = std::minmax_element(ns.begin(), ns.end());
      std::printf("  %-10s %10.3f ms, %.3f to %.3f, of %zu\n", stage.c_str(), Median(ns), Ms(*least), Ms(*most), ns.size());
    }
  }

 private:
  static double Ms(uint64_t ns) { return static_cast<double>(ns) * 1e-6; }
  static double Median(std::vector<uint64_t> ns) {
    std::sort(ns.begin(), ns.end());
    return Ms(ns[ns.size() / 2]);
  }

  std::vector<std::pair<std::string, std::vector<uint64_t>>> rows_;
};

}  // namespace proofline::bench
