// One packet as the broker socket gives it: envelope, then the body by its type. What is accepted must encode again.

#include <cstdlib>

#include "core/wire/codec.h"

namespace proofline::wire {
namespace {

template <class M>
void TryAs(const Frame& frame) {
  auto message = Unpack<M>(frame);
  if (!message.ok()) return;
  auto again = Pack(*message, frame.term);
  // Encoding may grow by the defaults it drops, never past the limit by more than the library's own canonical form.
  if (!again.ok() && again.status().code() != ErrorCode::kResource) abort();
  if (again.ok() && !Unpack<M>(*again).ok()) abort();
}

void TryAll(const Frame& frame) {
  TryAs<Hello>(frame), TryAs<Welcome>(frame), TryAs<SynthGrant>(frame), TryAs<GpuLease>(frame), TryAs<WipeOrder>(frame);
  TryAs<Done>(frame), TryAs<Failed>(frame), TryAs<Heartbeat>(frame), TryAs<CancelSlot>(frame), TryAs<Drain>(frame);
  TryAs<Request>(frame), TryAs<Reply>(frame), TryAs<Attach>(frame), TryAs<AttachReply>(frame), TryAs<PutInput>(frame);
  TryAs<GetInput>(frame), TryAs<GetResult>(frame), TryAs<BrokerReply>(frame);
}

}  // namespace
}  // namespace proofline::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofline::wire;
  auto frame = DecodePacket({data, size});
  if (frame.ok()) {
    if (EncodePacket(*frame).size() != size) abort();
    TryAll(*frame);
  }
  return 0;
}
