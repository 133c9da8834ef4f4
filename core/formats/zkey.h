// .zkey version 1, Groth16 (byte tables in README.md) -> ProvingKeyView.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/formats/section_file.h"
#include "core/groth16/types.h"

namespace proofline {

namespace zkey {
// Section types. kProofline is ours: readers of other projects skip it.
enum : uint32_t {
  kProtocol = 1,
  kHeader = 2,
  kIc = 3,
  kCoefficients = 4,
  kA = 5,
  kB1 = 6,
  kB2 = 7,
  kC = 8,
  kH = 9,
  kContributions = 10,
  kProofline = 0x50524c4b,
};
inline constexpr uint32_t kGroth16Protocol = 1;
// The content of kProofline: u32 record version, u32 flags, then free text (UTF-8) up to kMaxNoteBytes that says where the key is from.
inline constexpr uint32_t kRecordVersion = 1;
inline constexpr uint32_t kFlagKnownSecret = 1;
inline constexpr size_t kMaxNoteBytes = 256;
}  // namespace zkey

// Which parts of a key its reader will use. What was not checked is not reachable: the view's span is then empty.
enum class ZkeyUse {
  kAll,                  // every coefficient's indices and value are checked (a pass over section 4, in the caller's TBB arena)
  kWithoutCoefficients,  // for a reader that needs no rows: view.coefficients is empty, section 4's length is still checked
};

// A key where it lies. The spans in `view` point into the bytes given to ReadZkey.
struct Zkey {
  ProvingKeyView view;
  uint64_t coefficient_count = 0;  // also with kWithoutCoefficients
  bool unsafe = false;             // gamma2 = delta2: no second-phase contribution, anybody can forge proofs
  bool known_secret = false;       // the file says that its secret is known: a test key
  std::string known_secret_note;   // from the file, printable ASCII only
  SectionFile sections;
};

// Checks: protocol, primes, n8q and n8r, counts and their relations, every section's length, header and IC coordinates < q,
// coefficients as `use` says. Does not check that points are on their curves (Backend::CheckPoints). Reads none of the pages of
// sections 5 to 9.
Result<Zkey> ReadZkey(ByteSpan bytes, std::string_view name, ZkeyUse use = ZkeyUse::kAll);

// The coefficient pass alone: matrix 0 or 1, constraint < domain, signal < n_vars, value < r. The first one runs in the caller's TBB
// arena and names the lowest bad record; the second looks at records [begin, end) in the calling thread.
Status CheckAllCoefficients(const ProvingKeyView& view, std::string_view name);
Status CheckCoefficients(const ProvingKeyView& view, std::string_view name, size_t begin, size_t end);

// The largest domain this program proves over, log2. BN254 has roots of unity up to 2^28, and the odd coset needs twice the domain.
constexpr uint32_t MaxLog2Domain(CurveId curve) { return curve == CurveId::kBn254 ? 27 : 28; }

// What section 10 says. `readable` is false for a section that is missing or does not hold what it counts (the prover needs none of it).
struct ZkeyContributions {
  bool present = false;
  bool readable = false;
  uint32_t count = 0;
};
ZkeyContributions ReadContributions(const Zkey& key);

}  // namespace proofline
