#include "core/circuits/filecoin/constraint_system.h"

namespace proofline::filecoin {

void LinearSum::Normalise() {
  if (!sorted_) {
    std::sort(terms_.begin(), terms_.end(), [](const Term& x, const Term& y) { return x.variable.code < y.variable.code; });
    size_t kept = 0;
    for (size_t i = 1; i < terms_.size(); ++i) {
      if (terms_[i].variable == terms_[kept].variable)
        terms_[kept].coefficient += terms_[i].coefficient;
      else
        terms_[++kept] = terms_[i];
    }
    terms_.resize(kept + 1);
    sorted_ = true;
  }
  std::erase_if(terms_, [](const Term& t) { return t.coefficient.IsZero(); });
}

}  // namespace proofline::filecoin
