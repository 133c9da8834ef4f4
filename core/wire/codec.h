// Between bytes and messages.
//
// A message on any socket is an envelope of 16 bytes (little-endian: u32 magic "PRLN", u16 protocol version, u16 type,
// u64 term) and a body of at most 32 KiB, the protobuf encoding of the one message that belongs to the type (README.md
// has the table). Everything that arrives is hostile until it has been through here: wrong magic, version, type, length
// or body is a failed Status, never a crash. `term` counts the coordinator's starts; workers ignore messages of lower
// terms.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/wire/proofline.pb.h"

namespace proofline::wire {

inline constexpr uint32_t kMagic = 0x4e4c5250;  // "PRLN"
inline constexpr uint16_t kProtocolVersion = 1;
inline constexpr size_t kEnvelopeBytes = 16;
inline constexpr size_t kMaxBodyBytes = 32 * 1024;

// Append only.
enum class MessageType : uint16_t {
  kHello = 1,
  kWelcome = 2,
  kSynthGrant = 3,
  kGpuLease = 4,
  kWipeOrder = 5,
  kDone = 6,
  kFailed = 7,
  kHeartbeat = 8,
  kCancelSlot = 9,
  kDrain = 10,
  kRequest = 32,
  kReply = 33,
  kAttach = 64,
  kAttachReply = 65,
  kPutInput = 66,
  kGetInput = 67,
  kGetResult = 68,
  kBrokerReply = 69,
};
bool IsKnownType(uint16_t type);
std::string_view MessageTypeName(MessageType type);

// Which type carries which message: MessageTypeOf<Hello>::value.
template <class M>
struct MessageTypeOf;
#define PL_WIRE_MESSAGE(M)                                  \
  template <>                                               \
  struct MessageTypeOf<M> {                                 \
    static constexpr MessageType value = MessageType::k##M; \
  }
PL_WIRE_MESSAGE(Hello);
PL_WIRE_MESSAGE(Welcome);
PL_WIRE_MESSAGE(SynthGrant);
PL_WIRE_MESSAGE(GpuLease);
PL_WIRE_MESSAGE(WipeOrder);
PL_WIRE_MESSAGE(Done);
PL_WIRE_MESSAGE(Failed);
PL_WIRE_MESSAGE(Heartbeat);
PL_WIRE_MESSAGE(CancelSlot);
PL_WIRE_MESSAGE(Drain);
PL_WIRE_MESSAGE(Request);
PL_WIRE_MESSAGE(Reply);
PL_WIRE_MESSAGE(Attach);
PL_WIRE_MESSAGE(AttachReply);
PL_WIRE_MESSAGE(PutInput);
PL_WIRE_MESSAGE(GetInput);
PL_WIRE_MESSAGE(GetResult);
PL_WIRE_MESSAGE(BrokerReply);
#undef PL_WIRE_MESSAGE

// A message whose envelope has been checked and whose body has not been parsed yet.
struct Frame {
  MessageType type = MessageType::kHello;
  uint64_t term = 0;
  std::string body;
};

std::array<uint8_t, kEnvelopeBytes> EncodeEnvelope(MessageType type, uint64_t term);
// kInvalidArgument: wrong length, magic or type, or a body over the limit. kUnsupported: another protocol version.
Result<Frame> DecodeFrame(ByteSpan envelope, ByteSpan body);
// The same for one packet that holds both, as the broker socket has it.
Result<Frame> DecodePacket(ByteSpan packet);
std::string EncodePacket(const Frame& frame);

namespace codec_detail {
Result<Frame> PackLite(MessageType type, uint64_t term, const google::protobuf::MessageLite& message);
Status UnpackLite(MessageType want, const Frame& frame, google::protobuf::MessageLite* message);
}  // namespace codec_detail

// kResource when the body would be over the limit (a mistake of the sender: bulk never travels in messages).
template <class M>
Result<Frame> Pack(const M& message, uint64_t term) {
  return codec_detail::PackLite(MessageTypeOf<M>::value, term, message);
}
// kInvalidArgument when the frame is of another type or the body does not parse.
template <class M>
Result<M> Unpack(const Frame& frame) {
  M message;
  if (Status s = codec_detail::UnpackLite(MessageTypeOf<M>::value, frame, &message); !s.ok()) return s;
  return message;
}

// Texts are cut so that an Error always fits a message.
void FillError(const Status& status, Error* out);
// OK if `error` says code 0; an unknown code becomes kInternal.
Status ToStatus(const Error& error);

}  // namespace proofline::wire
