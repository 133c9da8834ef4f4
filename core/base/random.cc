// Apart from rng.cc, so that a program which needs the kernel's generator alone does not load the cryptographic library.

#include <errno.h>
#include <sys/random.h>

#include <cstring>
#include <string>

#include "core/base/rng.h"
#include "core/base/secret.h"

namespace proofline {

Status FillRandom(MutableByteSpan out) {
  size_t done = 0;
  while (done < out.size()) {
    ssize_t got = getrandom(out.data() + done, out.size() - done, 0);
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (got == 0 || errno != EINTR) {
      int error = got == 0 ? EIO : errno;
      Wipe(out.data(), out.size());
      return Status(ErrorCode::kIo, "the kernel gave no random bytes", "getrandom: " + std::string(strerror(error)),
                    "check that the sandbox or seccomp filter allows getrandom");
    }
  }
  return OkStatus();
}

}  // namespace proofline
