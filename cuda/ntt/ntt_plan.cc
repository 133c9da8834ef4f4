#include "cuda/ntt/ntt.h"

namespace proofline::cuda {

size_t NttTableBytes(int log2_n) { return size_t{32} << log2_n; }

}  // namespace proofline::cuda
