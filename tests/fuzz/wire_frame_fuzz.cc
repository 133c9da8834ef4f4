// Two frames as the ZeroMQ sockets give them, the body tried as every message: the first byte chooses the type, so that
// the fuzzer need not find the magic.

#include <cstdlib>

#include "core/wire/codec.h"

namespace proofline::wire {
namespace {

template <class M>
void TryBody(proofline::ByteSpan body) {
  auto envelope = EncodeEnvelope(MessageTypeOf<M>::value, 7);
  auto frame = DecodeFrame(envelope, body);
  if (!frame.ok()) return;
  auto message = Unpack<M>(*frame);
  if (!message.ok()) return;
  if constexpr (requires { message->error(); }) (void)ToStatus(message->error());
  auto again = Pack(*message, 7);
  if (again.ok() && !Unpack<M>(*again).ok()) abort();
}

using Try = void (*)(proofline::ByteSpan);
constexpr Try kTries[] = {TryBody<Hello>,      TryBody<Welcome>,     TryBody<SynthGrant>, TryBody<GpuLease>,
                          TryBody<WipeOrder>,  TryBody<Done>,        TryBody<Failed>,     TryBody<Heartbeat>,
                          TryBody<CancelSlot>, TryBody<Drain>,       TryBody<Request>,    TryBody<Reply>,
                          TryBody<Attach>,     TryBody<AttachReply>, TryBody<PutInput>,   TryBody<GetInput>,
                          TryBody<GetResult>,  TryBody<BrokerReply>};

}  // namespace
}  // namespace proofline::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofline::wire;
  if (size == 0) return 0;
  kTries[data[0] % std::size(kTries)]({data + 1, size - 1});
  return 0;
}
