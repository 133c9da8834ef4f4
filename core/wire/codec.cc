#include "core/wire/codec.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>

namespace proofline::wire {

std::string_view MessageTypeName(MessageType type) {
  switch (type) {
    case MessageType::kHello:
      return "Hello";
    case MessageType::kWelcome:
      return "Welcome";
    case MessageType::kSynthGrant:
      return "SynthGrant";
    case MessageType::kGpuLease:
      return "GpuLease";
    case MessageType::kWipeOrder:
      return "WipeOrder";
    case MessageType::kDone:
      return "Done";
    case MessageType::kFailed:
      return "Failed";
    case MessageType::kHeartbeat:
      return "Heartbeat";
    case MessageType::kCancelSlot:
      return "CancelSlot";
    case MessageType::kDrain:
      return "Drain";
    case MessageType::kRequest:
      return "Request";
    case MessageType::kReply:
      return "Reply";
    case MessageType::kAttach:
      return "Attach";
    case MessageType::kAttachReply:
      return "AttachReply";
    case MessageType::kPutInput:
      return "PutInput";
    case MessageType::kGetInput:
      return "GetInput";
    case MessageType::kGetResult:
      return "GetResult";
    case MessageType::kBrokerReply:
      return "BrokerReply";
  }
  return "";
}

bool IsKnownType(uint16_t type) { return !MessageTypeName(static_cast<MessageType>(type)).empty(); }

std::array<uint8_t, kEnvelopeBytes> EncodeEnvelope(MessageType type, uint64_t term) {
  std::array<uint8_t, kEnvelopeBytes> out{};
  StoreLe(out.data(), kMagic);
  StoreLe(out.data() + 4, kProtocolVersion);
  StoreLe(out.data() + 6, static_cast<uint16_t>(type));
  StoreLe(out.data() + 8, term);
  return out;
}

Result<Frame> DecodeFrame(ByteSpan envelope, ByteSpan body) {
  auto bad = [](std::string fact) { return Status(ErrorCode::kInvalidArgument, std::move(fact)); };
  if (envelope.size() != kEnvelopeBytes)
    return bad("message envelope has " + std::to_string(envelope.size()) + " bytes, expected " +
               std::to_string(kEnvelopeBytes));
  if (LoadLe<uint32_t>(envelope.data()) != kMagic) return bad("message envelope does not start with PRLN");
  uint16_t version = LoadLe<uint16_t>(envelope.data() + 4);
  if (version != kProtocolVersion)
    return Status(
        ErrorCode::kUnsupported,
        "message of protocol " + std::to_string(version) + ", this program speaks " + std::to_string(kProtocolVersion),
        "", "Run programs of one version against one stack.");
  uint16_t type = LoadLe<uint16_t>(envelope.data() + 6);
  if (!IsKnownType(type)) return bad("message type " + std::to_string(type) + " is unknown");
  if (body.size() > kMaxBodyBytes)
    return bad("message body has " + std::to_string(body.size()) + " bytes, at most " + std::to_string(kMaxBodyBytes) +
               " are allowed");
  Frame frame;
  frame.type = static_cast<MessageType>(type);
  frame.term = LoadLe<uint64_t>(envelope.data() + 8);
  frame.body.assign(reinterpret_cast<const char*>(body.data()), body.size());
  return frame;
}

Result<Frame> DecodePacket(ByteSpan packet) {
  size_t head = std::min(packet.size(), kEnvelopeBytes);
  return DecodeFrame(packet.first(head), packet.subspan(head));
}

std::string EncodePacket(const Frame& frame) {
  auto envelope = EncodeEnvelope(frame.type, frame.term);
  std::string out(reinterpret_cast<const char*>(envelope.data()), envelope.size());
  return out + frame.body;
}

namespace codec_detail {

Result<Frame> PackLite(MessageType type, uint64_t term, const google::protobuf::MessageLite& message) {
  size_t bytes = message.ByteSizeLong();
  if (bytes > kMaxBodyBytes)
    return Status(ErrorCode::kResource, std::string(MessageTypeName(type)) + " message would have " +
                                            std::to_string(bytes) + " bytes, at most " + std::to_string(kMaxBodyBytes) +
                                            " are allowed");
  Frame frame;
  frame.type = type;
  frame.term = term;
  if (!message.SerializeToString(&frame.body))
    return Status(ErrorCode::kInvalidArgument, std::string(MessageTypeName(type)) + " message cannot be encoded");
  return frame;
}

Status UnpackLite(MessageType want, const Frame& frame, google::protobuf::MessageLite* message) {
  if (frame.type != want)
    return Status(ErrorCode::kInvalidArgument, "expected a message " + std::string(MessageTypeName(want)) + ", found " +
                                                   std::string(MessageTypeName(frame.type)));
  // The library would write a line to stderr for every hostile message.
  [[maybe_unused]] static const bool quiet = (google::protobuf::SetLogHandler(nullptr), true);
  if (frame.body.size() > kMaxBodyBytes || !message->ParseFromString(frame.body))
    return Status(ErrorCode::kInvalidArgument, "body of a message " + std::string(MessageTypeName(want)) + " (" +
                                                   std::to_string(frame.body.size()) + " bytes) does not parse");
  return OkStatus();
}

}  // namespace codec_detail

namespace {
constexpr size_t kMaxTextBytes = 2048;

// Bytes of the well-formed UTF-8 sequence at `p` (RFC 3629), 0 if there is none.
size_t Utf8Length(const unsigned char* p, size_t left) {
  auto more = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < left && p[i] >= low && p[i] <= high;
  };
  if (p[0] < 0x80) return 1;
  if (p[0] >= 0xc2 && p[0] <= 0xdf) return more(1) ? 2 : 0;
  if (p[0] >= 0xe0 && p[0] <= 0xef)
    return more(1, p[0] == 0xe0 ? 0xa0 : 0x80, p[0] == 0xed ? 0x9f : 0xbf) && more(2) ? 3 : 0;
  if (p[0] >= 0xf0 && p[0] <= 0xf4)
    return more(1, p[0] == 0xf0 ? 0x90 : 0x80, p[0] == 0xf4 ? 0x8f : 0xbf) && more(2) && more(3) ? 4 : 0;
  return 0;
}

// At most kMaxTextBytes, and always UTF-8: proto3 refuses anything else, and texts quote file names.
std::string SafeText(const std::string& text) {
  std::string out;
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  for (size_t i = 0; i < text.size() && out.size() + 4 <= kMaxTextBytes;) {
    size_t length = Utf8Length(p + i, text.size() - i);
    if (length == 0)
      out += '?';
    else
      out.append(text, i, length);
    i += std::max<size_t>(length, 1);
  }
  return out;
}
}  // namespace

void FillError(const Status& status, Error* out) {
  out->Clear();
  if (status.ok()) return;
  out->set_code(static_cast<uint32_t>(status.code()));
  out->set_fact(SafeText(status.error().fact));
  out->set_detail(SafeText(status.error().detail));
  out->set_remedy(SafeText(status.error().remedy));
}

Status ToStatus(const Error& error) {
  if (error.code() == 0) return OkStatus();
  ErrorCode code = ErrorCode::kInternal;
  if (error.code() <= static_cast<uint32_t>(ErrorCode::kInvalidArgument)) code = static_cast<ErrorCode>(error.code());
  return Status(code, error.fact(), error.detail(), error.remedy());
}

}  // namespace proofline::wire
