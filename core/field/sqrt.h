// Square roots in Fq and Fq2 = Fq[u]/(u^2 + 1) for q = 3 mod 4, which both base fields here are. Not constant time.
#pragma once

#include "core/field/fp.h"
#include "core/field/fq2.h"
#include "core/field/limbs.h"

namespace proofline {

// A root of `a` in *root, which of the two is not said; false if there is none. a^((q+1)/4) is a root exactly of squares.
template <class M, class Arith>
bool SquareRoot(const Fp<M, Arith>& a, Fp<M, Arith>* root) {
  static_assert(M::kValue[0] % 4 == 3);
  *root = a.Pow(LimbsDiv(LimbsSub(M::kValue, 3), 4)) * a;
  return root->Square() == a;
}

// The complex method (Adj and Rodriguez-Henriquez, "Square root computation over even extension fields", IEEE TC 2014, section 5): with
// s^2 the norm of a, one of (c0 + s)/2 and (c0 - s)/2 is the square of the root's c0.
template <class Fq>
bool SquareRoot(const Fq2<Fq>& a, Fq2<Fq>* root) {
  if (a.c1.IsZero()) {
    *root = Fq2<Fq>::Zero();
    return SquareRoot(a.c0, &root->c0) || (root->c0 = Fq::Zero(), SquareRoot(-a.c0, &root->c1));
  }
  Fq norm_root;
  if (!SquareRoot(a.c0.Square() + a.c1.Square(), &norm_root)) return false;
  const Fq half = Fq::FromU64(2).Inverse();
  Fq x;
  if (!SquareRoot((a.c0 + norm_root) * half, &x) && !SquareRoot((a.c0 - norm_root) * half, &x)) return false;
  *root = {x, a.c1 * x.Double().Inverse()};
  return root->Square() == a;
}

}  // namespace proofline
