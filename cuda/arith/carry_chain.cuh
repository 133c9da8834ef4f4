// Carry chains of 32-bit words, written once for device and host.
//
// On the device each function is one PTX instruction that sets or uses the processor's carry flag; the assembler fuses the
// lo/hi pairs of multiply-adds on an aligned register pair into one 64-bit multiply-add (IMAD.WIDE with carry), which is the only form
// that reaches the multiplier's full rate. On the host the flag is the Carry token, so the same control flow runs under a sanitizer.
//
// Rules. A chain starts with a _cc function without "c" in front (add_cc, mad_lo_cc) and every statement of it follows the one before
// with nothing that touches the flag in between; a chain ends with the form without _cc. The token must be passed along so that host
// and device mean the same.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define PL_HD __host__ __device__ __forceinline__
#define PL_HD_CALL __host__ __device__ __noinline__
#else
#define PL_HD inline
#define PL_HD_CALL inline
#endif

namespace proofline::cuda {

struct Carry {
#ifndef __CUDA_ARCH__
  uint32_t flag = 0;
#endif
};

#ifdef __CUDA_ARCH__
#define PL_CHAIN3(name, ptx)                                                             \
  PL_HD uint32_t name(uint32_t a, uint32_t b, Carry&) {                                  \
    uint32_t r;                                                                          \
    asm volatile(ptx " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                         \
    return r;                                                                            \
  }
#define PL_CHAIN4(name, ptx)                                                             \
  PL_HD uint32_t name(uint32_t a, uint32_t b, uint32_t c, Carry&) {                      \
    uint32_t r;                                                                          \
    asm volatile(ptx " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));             \
    return r;                                                                            \
  }
PL_CHAIN3(add_cc, "add.cc.u32")
PL_CHAIN3(addc_cc, "addc.cc.u32")
PL_CHAIN3(addc, "addc.u32")
PL_CHAIN3(sub_cc, "sub.cc.u32")
PL_CHAIN3(subc_cc, "subc.cc.u32")
PL_CHAIN3(subc, "subc.u32")
PL_CHAIN4(mad_lo_cc, "mad.lo.cc.u32")
PL_CHAIN4(madc_lo_cc, "madc.lo.cc.u32")
PL_CHAIN4(madc_hi_cc, "madc.hi.cc.u32")
PL_CHAIN4(madc_hi, "madc.hi.u32")
#undef PL_CHAIN3
#undef PL_CHAIN4
#else
namespace chain_detail {
inline uint32_t Add(uint64_t a, uint64_t b, uint64_t carry_in, Carry& c) {
  uint64_t s = a + b + carry_in;
  c.flag = static_cast<uint32_t>(s >> 32);
  return static_cast<uint32_t>(s);
}
inline uint32_t Sub(uint64_t a, uint64_t b, uint64_t borrow_in, Carry& c) {
  uint64_t d = a - b - borrow_in;
  c.flag = static_cast<uint32_t>(d >> 63);
  return static_cast<uint32_t>(d);
}
inline uint32_t Lo(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b); }
inline uint32_t Hi(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }
}  // namespace chain_detail
inline uint32_t add_cc(uint32_t a, uint32_t b, Carry& c) { return chain_detail::Add(a, b, 0, c); }
inline uint32_t addc_cc(uint32_t a, uint32_t b, Carry& c) { return chain_detail::Add(a, b, c.flag, c); }
inline uint32_t addc(uint32_t a, uint32_t b, Carry& c) { return chain_detail::Add(a, b, c.flag, c); }
inline uint32_t sub_cc(uint32_t a, uint32_t b, Carry& c) { return chain_detail::Sub(a, b, 0, c); }
inline uint32_t subc_cc(uint32_t a, uint32_t b, Carry& c) { return chain_detail::Sub(a, b, c.flag, c); }
inline uint32_t subc(uint32_t a, uint32_t b, Carry& c) { return chain_detail::Sub(a, b, c.flag, c); }
inline uint32_t mad_lo_cc(uint32_t a, uint32_t b, uint32_t d, Carry& c) {
  return chain_detail::Add(chain_detail::Lo(a, b), d, 0, c);
}
inline uint32_t madc_lo_cc(uint32_t a, uint32_t b, uint32_t d, Carry& c) {
  return chain_detail::Add(chain_detail::Lo(a, b), d, c.flag, c);
}
inline uint32_t madc_hi_cc(uint32_t a, uint32_t b, uint32_t d, Carry& c) {
  return chain_detail::Add(chain_detail::Hi(a, b), d, c.flag, c);
}
inline uint32_t madc_hi(uint32_t a, uint32_t b, uint32_t d, Carry& c) { return madc_hi_cc(a, b, d, c); }
#endif

}  // namespace proofline::cuda
