#include "cli/warnings.h"

#include "cli/command.h"
#include "core/base/text.h"

namespace proofline::cli {

void WarnAboutKey(const Zkey& key, std::string_view name) {
  if (key.unsafe)
    Warn(StrCat("UNSAFE KEY ", name, ": it has no second-phase contribution (gamma2 = delta2), so ANYBODY CAN FORGE PROOFS for it. Contribute to it (snarkjs zkey contribute) before its proofs mean anything."));
  if (key.known_secret)
    Warn(StrCat("TEST KEY ", name, ": it was made from a seed, so its secret is known and ANYBODY WHO HAS THE SEED CAN FORGE PROOFS for it",
                key.known_secret_note.empty() ? "" : StrCat(" (", key.known_secret_note, ")"), "."));
}

}  // namespace proofline::cli
