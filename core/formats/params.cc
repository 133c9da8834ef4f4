#include "core/formats/params.h"

#include <bit>
#include <cstring>
#include <new>

#include "core/base/text.h"
#include "core/formats/zkey.h"
#include "core/groth16/convert.h"

namespace proofline {

namespace {

constexpr char kDamaged[] = "the file is damaged or was not written to its end; fetch it again and compare its digest with the published one";
// Points are numbered in 31 bits where they are multiplied.
constexpr uint64_t kMaxVariables = (uint64_t{1} << 31) - 1;

// Takes one part after the other off a file; what is taken is there.
class Cursor {
 public:
  Cursor(ByteSpan bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  Status Bad(std::string_view part, std::string text) const {
    return Status(ErrorCode::kInvalidFile, StrCat(name_, ": ", part, ": ", text), StrCat("at offset ", at_), kDamaged);
  }
  Status Take(std::string_view part, uint64_t size, ByteSpan* out) {
    const uint64_t left = bytes_.size() - at_;
    if (size > left) return Bad(part, StrCat("needs ", size, " bytes, but only ", left, " are left in the file"));
    *out = bytes_.subspan(at_, size);
    at_ += size;
    return OkStatus();
  }
  // A big-endian u32, and as many points.
  Status TakePoints(std::string_view part, uint64_t point_bytes, ByteSpan* out) {
    ByteSpan count;
    PL_RETURN_IF_ERROR(Take(StrCat(part, "'s count"), 4, &count));
    const uint64_t n = __builtin_bswap32(LoadLe<uint32_t>(count.data()));
    const uint64_t left = bytes_.size() - at_;
    if (n * point_bytes > left)
      return Bad(part, StrCat("counts ", n, " points of ", point_bytes, " bytes, but only ", left, " bytes are left in the file"));
    return Take(part, n * point_bytes, out);
  }
  Status End() const {
    if (at_ == bytes_.size()) return OkStatus();
    return Bad("end", StrCat(bytes_.size() - at_, " bytes found after the last point, expected none"));
  }
  uint64_t at() const { return at_; }

 private:
  ByteSpan bytes_;
  std::string_view name_;
  uint64_t at_ = 0;
};

Status TakeVk(Cursor& in, ByteSpan bytes, PointForm form, VkFile* vk) {
  const size_t g1 = G1FormBytes(form), g2 = G2FormBytes(form);
  vk->form = form;
  PL_RETURN_IF_ERROR(in.Take("vk alpha_g1", g1, &vk->alpha1));
  PL_RETURN_IF_ERROR(in.Take("vk beta_g1", g1, &vk->beta1));
  PL_RETURN_IF_ERROR(in.Take("vk beta_g2", g2, &vk->beta2));
  PL_RETURN_IF_ERROR(in.Take("vk gamma_g2", g2, &vk->gamma2));
  PL_RETURN_IF_ERROR(in.Take("vk delta_g1", g1, &vk->delta1));
  PL_RETURN_IF_ERROR(in.Take("vk delta_g2", g2, &vk->delta2));
  PL_RETURN_IF_ERROR(in.TakePoints("vk ic", g1, &vk->ic));
  if (vk->ic.empty()) return in.Bad("vk ic", "has no points, expected one for the constant and one for each public input");
  vk->bytes = bytes.first(in.at());
  return OkStatus();
}

// What holds between the counts of a key, whatever its circuit.
Status CheckCounts(const Cursor& in, const ParamsFile& params) {
  const uint64_t inputs = params.vk.ic.size() / 96, aux = params.l.size() / 96, h = params.h.size() / 96;
  const uint64_t a = params.a.size() / 96, b1 = params.b1.size() / 96, b2 = params.b2.size() / 192;
  if (!std::has_single_bit(h + 1) || h == 0)
    return in.Bad("h", StrCat("has ", h, " points, expected one less than a power of two that is at least 2"));
  if (inputs > h + 1) return in.Bad("h", StrCat("is for a domain of ", h + 1, ", too small for the ", inputs, " inputs of vk ic"));
  if (inputs + aux > kMaxVariables) return in.Bad("l", StrCat("has ", aux, " points, expected at most ", kMaxVariables - inputs));
  if (a < inputs || a > inputs + aux)
    return in.Bad("a", StrCat("has ", a, " points, expected from ", inputs, " (the inputs) to ", inputs + aux, " (all variables)"));
  if (b1 > inputs + aux) return in.Bad("b_g1", StrCat("has ", b1, " points, expected at most ", inputs + aux, " (all variables)"));
  if (b1 != b2) return in.Bad("b_g2", StrCat("has ", b2, " points, expected ", b1, ", as many as b_g1"));
  return OkStatus();
}

// A part of the file and its name in messages.
struct Part {
  std::string_view name;
  PointGroup group;
  ByteSpan points;
};

Status DescribeVerdict(const Part& part, std::string_view name, const PointsVerdict& verdict) {
  const size_t count = part.points.size() / KeyPointBytes(part.group);
  return Status(ErrorCode::kInvalidFile,
                StrCat(name, ": ", part.name, ": point ", verdict.index, " of ", count, " ", PointFaultText(verdict.fault)), {}, kDamaged);
}

Status Import(const Part& part, std::string_view name, PointChecks checks, MutableByteSpan to, const ParamsSectionDone& done) {
  const PointsVerdict verdict = ImportPoints(part.group, part.points, checks, to);
  if (verdict.fault != PointFault::kNone) return DescribeVerdict(part, name, verdict);
  if (done) done(part.points);
  return OkStatus();
}

constexpr size_t kPartCount = 12;
std::array<Part, kPartCount> PartsOf(const ParamsFile& p) {
  using enum PointGroup;
  return {{{"vk alpha_g1", kG1, p.vk.alpha1},
           {"vk beta_g1", kG1, p.vk.beta1},
           {"vk beta_g2", kG2, p.vk.beta2},
           {"vk gamma_g2", kG2, p.vk.gamma2},
           {"vk delta_g1", kG1, p.vk.delta1},
           {"vk delta_g2", kG2, p.vk.delta2},
           {"vk ic", kG1, p.vk.ic},
           {"h", kG1, p.h},
           {"l", kG1, p.l},
           {"a", kG1, p.a},
           {"b_g1", kG1, p.b1},
           {"b_g2", kG2, p.b2}}};
}

uint64_t DensityBytes(uint32_t n_vars) { return (uint64_t{n_vars} + 63) / 64 * 8; }

Status CheckDensity(const ParamsFile& params, std::string_view name, const QueryDensity& density) {
  struct Query {
    const char* name;
    const VariableSet& set;
    uint64_t points;
  };
  for (const Query& q : {Query{"a", density.a, params.a.size() / 96}, Query{"b_g1", density.b, params.b1.size() / 96}}) {
    if (q.set.n_vars() != params.n_vars())
      return Status(ErrorCode::kMismatch, StrCat(name, ": is a key for ", params.n_vars(), " variables, the circuit has ", q.set.n_vars()), {},
                    "give the key of this circuit");
    if (q.set.Count() != q.points)
      return Status(ErrorCode::kMismatch,
                    StrCat(name, ": ", q.name, ": has ", q.points, " points, the circuit has ", q.set.Count(), " variables in it"), {},
                    "give the key of this circuit");
  }
  return OkStatus();
}

template <class Plain>
Status DecodeNonZero(const uint8_t* bytes, PointForm form, std::string_view name, std::string_view what, Plain* out) {
  PointFault fault = DecodePoint(bytes, form, out);
  if (fault == PointFault::kNone && out->infinity) fault = PointFault::kInfinity;
  if (fault == PointFault::kNone) return OkStatus();
  return Status(ErrorCode::kInvalidFile, StrCat(name, ": vk ", what, " ", PointFaultText(fault)), {}, kDamaged);
}

}  // namespace

Result<VkFile> ReadVk(ByteSpan bytes, std::string_view name) {
  Cursor in(bytes, name);
  const bool compressed = !bytes.empty() && bytes[0] & 0x80;
  VkFile vk;
  PL_RETURN_IF_ERROR(TakeVk(in, bytes, compressed ? PointForm::kCompressed : PointForm::kUncompressed, &vk));
  PL_RETURN_IF_ERROR(in.End());
  return vk;
}

Result<ParamsFile> ReadParams(ByteSpan bytes, std::string_view name) {
  Cursor in(bytes, name);
  ParamsFile params;
  PL_RETURN_IF_ERROR(TakeVk(in, bytes, PointForm::kUncompressed, &params.vk));
  PL_RETURN_IF_ERROR(in.TakePoints("h", 96, &params.h));
  PL_RETURN_IF_ERROR(in.TakePoints("l", 96, &params.l));
  PL_RETURN_IF_ERROR(in.TakePoints("a", 96, &params.a));
  PL_RETURN_IF_ERROR(in.TakePoints("b_g1", 96, &params.b1));
  PL_RETURN_IF_ERROR(in.TakePoints("b_g2", 192, &params.b2));
  PL_RETURN_IF_ERROR(in.End());
  PL_RETURN_IF_ERROR(CheckCounts(in, params));
  params.log2_domain = static_cast<uint32_t>(std::countr_zero(params.h.size() / 96 + 1));
  if (params.log2_domain > MaxLog2Domain(CurveId::kBls12381))
    return Status(ErrorCode::kUnsupported, StrCat(name, ": h: is for a domain of 2^", params.log2_domain, ", expected at most 2^",
                                                  MaxLog2Domain(CurveId::kBls12381)));
  return params;
}

Result<VerificationKey> DecodeVk(const VkFile& file, std::string_view name) {
  VerificationKey vk;
  vk.curve = CurveId::kBls12381;
  G1Point unused;
  PL_RETURN_IF_ERROR(DecodeNonZero(file.alpha1.data(), file.form, name, "alpha_g1", &vk.alpha1));
  PL_RETURN_IF_ERROR(DecodeNonZero(file.beta1.data(), file.form, name, "beta_g1", &unused));
  PL_RETURN_IF_ERROR(DecodeNonZero(file.beta2.data(), file.form, name, "beta_g2", &vk.beta2));
  PL_RETURN_IF_ERROR(DecodeNonZero(file.gamma2.data(), file.form, name, "gamma_g2", &vk.gamma2));
  PL_RETURN_IF_ERROR(DecodeNonZero(file.delta1.data(), file.form, name, "delta_g1", &unused));
  PL_RETURN_IF_ERROR(DecodeNonZero(file.delta2.data(), file.form, name, "delta_g2", &vk.delta2));
  const size_t g1 = G1FormBytes(file.form);
  vk.ic.resize(file.ic.size() / g1);
  for (size_t i = 0; i < vk.ic.size(); ++i)
    PL_RETURN_IF_ERROR(DecodeNonZero(file.ic.data() + i * g1, file.form, name, StrCat("ic: point ", i, " of ", vk.ic.size()), &vk.ic[i]));
  return vk;
}

Status CheckParamsPoints(const ParamsFile& params, std::string_view name, PointChecks checks, const ParamsSectionDone& done) {
  for (const Part& part : PartsOf(params)) PL_RETURN_IF_ERROR(Import(part, name, checks, {}, done));
  return OkStatus();
}

uint64_t ParamsImageBytes(const ParamsFile& params) {
  uint64_t bytes = 2 * DensityBytes(params.n_vars());
  for (const Part& part : PartsOf(params)) bytes += part.points.size();
  return bytes;
}

Result<ProvingKeyView> ImportParams(const ParamsFile& params, std::string_view name, const QueryDensity& density, PointChecks checks,
                                    MutableByteSpan image, const ParamsSectionDone& done) {
  PL_RETURN_IF_ERROR(CheckDensity(params, name, density));
  if (image.size() != ParamsImageBytes(params))
    return Status(ErrorCode::kInternal, StrCat("an image of ", image.size(), " bytes for a key that needs ", ParamsImageBytes(params)));
  ProvingKeyView view;
  view.curve = CurveId::kBls12381;
  view.n_vars = params.n_vars();
  view.n_public = params.n_public();
  view.log2_domain = params.log2_domain;
  view.form = KeyForm::kBellperson;
  ByteSpan* const spans[kPartCount] = {&view.alpha1, &view.beta1, &view.beta2, &view.gamma2, &view.delta1, &view.delta2,
                                       &view.ic,     &view.h,     &view.c,     &view.a,      &view.b1,     &view.b2};
  size_t at = 0;
  const auto parts = PartsOf(params);
  for (size_t i = 0; i < kPartCount; ++i) {
    MutableByteSpan to = image.subspan(at, parts[i].points.size());
    PL_RETURN_IF_ERROR(Import(parts[i], name, checks, to, done));
    *spans[i] = to;
    at += to.size();
  }
  for (auto [set, span] : {std::pair{&density.a, &view.a_density}, {&density.b, &view.b_density}}) {
    MutableByteSpan to = image.subspan(at, set->bytes().size());
    std::memcpy(to.data(), set->bytes().data(), to.size());
    *span = to;
    at += to.size();
  }
  return view;
}

Result<ParamsKey> ParamsKey::Load(const ParamsFile& params, std::string_view name, const QueryDensity& density, PointChecks checks) {
  ParamsKey key;
  const uint64_t bytes = ParamsImageBytes(params);
  key.image_.reset(new (std::nothrow) uint8_t[bytes]);
  if (!key.image_) return Status(ErrorCode::kResource, StrCat(name, ": not enough memory for the key's image of ", bytes, " bytes"));
  PL_ASSIGN_OR_RETURN(key.view_, ImportParams(params, name, density, checks, {key.image_.get(), bytes}, {}));
  return key;
}

}  // namespace proofline
