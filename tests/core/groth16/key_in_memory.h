// A generated key that lies in memory instead of a file.
#pragma once

#include <map>
#include <vector>

#include "core/groth16/setup.h"

namespace proofline {

class KeyInMemory : public KeySink {
 public:
  Status Begin(const KeyShape& shape) override {
    shape_ = shape;
    return OkStatus();
  }
  Status BeginSection(Section section, uint64_t bytes) override {
    if (sections_.contains(section)) return Status(ErrorCode::kInternal, "a section twice");
    PL_RETURN_IF_ERROR(CheckFull());
    current_ = section;
    sections_[section];
    expected_ = bytes;
    return OkStatus();
  }
  Status Append(ByteSpan bytes) override {
    auto& content = sections_[current_];
    content.insert(content.end(), bytes.begin(), bytes.end());
    return OkStatus();
  }
  // The section under way has all its bytes.
  Status CheckFull() const {
    if (sections_.empty() || sections_.at(current_).size() == expected_) return OkStatus();
    return Status(ErrorCode::kInternal, "a section is not of the length that was announced");
  }

  const KeyShape& shape() const { return shape_; }
  std::vector<uint8_t>& section(Section s) { return sections_[s]; }
  ProvingKeyView view() const {
    ProvingKeyView v;
    v.curve = shape_.curve;
    v.n_vars = shape_.n_vars;
    v.n_public = shape_.n_public;
    v.log2_domain = shape_.log2_domain;
    const size_t g1 = 2 * FqBytes(v.curve), g2 = 2 * g1;
    ByteSpan header = sections_.at(kHeaderPoints);
    for (auto [span, bytes] : {std::pair{&v.alpha1, g1}, {&v.beta1, g1}, {&v.beta2, g2}, {&v.gamma2, g2}, {&v.delta1, g1}, {&v.delta2, g2}}) {
      *span = header.first(bytes);
      header = header.subspan(bytes);
    }
    v.ic = sections_.at(kIc);
    // Only a key of bellperson's form has none; its densities are the caller's to add.
    if (auto coefficients = sections_.find(kCoefficients); coefficients != sections_.end()) {
      v.coefficients = coefficients->second;
    } else {
      v.form = KeyForm::kBellperson;
    }
    v.a = sections_.at(kA);
    v.b1 = sections_.at(kB1);
    v.b2 = sections_.at(kB2);
    v.c = sections_.at(kC);
    v.h = sections_.at(kH);
    return v;
  }

 private:
  KeyShape shape_;
  std::map<uint32_t, std::vector<uint8_t>> sections_;
  Section current_ = kHeaderPoints;
  uint64_t expected_ = 0;
};

}  // namespace proofline
