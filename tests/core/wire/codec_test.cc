#include "core/wire/codec.h"

#include <gtest/gtest.h>

#include <random>

namespace proofline::wire {
namespace {

ByteSpan Span(const std::string& s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

SynthGrant SampleGrant() {
  SynthGrant grant;
  grant.set_slot(3);
  grant.set_epoch(0xfffffff0);
  grant.set_job(uint64_t{1} << 40);
  grant.set_partition(2);
  grant.set_attempt(1);
  grant.set_priority(PRIORITY_HIGH);
  grant.mutable_circuit()->set_key_path("/keys/\xff not utf-8.zkey");
  grant.mutable_circuit()->set_n_vars(1000);
  return grant;
}

TEST(Codec, EnvelopeBytesAreFixed) {
  auto e = EncodeEnvelope(MessageType::kSynthGrant, 0x0102030405060708);
  const uint8_t expected[16] = {'P', 'R', 'L', 'N', 1, 0, 3, 0, 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_TRUE(std::equal(e.begin(), e.end(), expected));
}

TEST(Codec, RoundTrip) {
  auto frame = Pack(SampleGrant(), 9);
  ASSERT_TRUE(frame.ok());
  auto back = DecodePacket(Span(EncodePacket(*frame)));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->term, 9u);
  auto grant = Unpack<SynthGrant>(*back);
  ASSERT_TRUE(grant.ok());
  EXPECT_EQ(grant->SerializeAsString(), SampleGrant().SerializeAsString());
  EXPECT_EQ(Unpack<GpuLease>(*back).status().code(), ErrorCode::kInvalidArgument) << "type is checked, not only shape";
}

TEST(Codec, EmptyBodyIsAMessage) {
  auto frame = Pack(Drain(), 1);
  ASSERT_TRUE(frame.ok());
  EXPECT_TRUE(frame->body.empty());
  EXPECT_TRUE(Unpack<Drain>(*DecodePacket(Span(EncodePacket(*frame)))).ok());
}

TEST(Codec, RefusesWrongEnvelopes) {
  auto good = EncodeEnvelope(MessageType::kHello, 1);
  auto code = [](ByteSpan e, ByteSpan b = {}) { return DecodeFrame(e, b).status().code(); };
  EXPECT_EQ(code(good), ErrorCode::kOk);
  EXPECT_EQ(code(ByteSpan(good).first(15)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({}), ErrorCode::kInvalidArgument);
  auto changed = [&](size_t at, uint8_t to) {
    auto e = good;
    e[at] = to;
    return code(e);
  };
  EXPECT_EQ(changed(0, 'X'), ErrorCode::kInvalidArgument);
  EXPECT_EQ(changed(4, 2), ErrorCode::kUnsupported);
  EXPECT_EQ(changed(6, 0), ErrorCode::kInvalidArgument);
  EXPECT_EQ(changed(6, 200), ErrorCode::kInvalidArgument);
  EXPECT_EQ(changed(7, 1), ErrorCode::kInvalidArgument);
  std::vector<uint8_t> body(kMaxBodyBytes);
  EXPECT_EQ(code(good, body), ErrorCode::kOk);
  body.push_back(0);
  EXPECT_EQ(code(good, body), ErrorCode::kInvalidArgument);
}

TEST(Codec, RefusesToSendTooMuch) {
  Reply reply;
  for (int i = 0; i < 40; ++i) reply.mutable_circuits()->add_circuits()->set_name(std::string(1000, 'n'));
  EXPECT_EQ(Pack(reply, 1).status().code(), ErrorCode::kResource);
}

TEST(Codec, ErrorsSurviveAnyText) {
  for (const std::string& text : {std::string("plain"), std::string("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
                                  std::string("\xff\xfe\xc0\xaf\xed\xa0\x80 x"), std::string(100000, '\xe2'),
                                  std::string("\0mid", 4), std::string("cut \xe2\x82")}) {
    Failed failed;
    FillError(Status(ErrorCode::kUnsatisfied, text, text, text), failed.mutable_error());
    auto frame = Pack(failed, 1);
    ASSERT_TRUE(frame.ok()) << frame.status().ToString();
    auto back = Unpack<Failed>(*frame);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(ToStatus(back->error()).code(), ErrorCode::kUnsatisfied);
  }
  Error error;
  FillError(Status(ErrorCode::kIo, "caf\xc3\xa9\xff"), &error);
  EXPECT_EQ(error.fact(), "caf\xc3\xa9?");
  FillError(OkStatus(), &error);
  EXPECT_TRUE(ToStatus(error).ok());
  error.set_code(77777);
  EXPECT_EQ(ToStatus(error).code(), ErrorCode::kInternal);
}

// Every prefix and thousands of mutations of valid packets: never a crash, and what is accepted encodes again.
TEST(Codec, MutatedPacketsAreRefusedOrMeaningful) {
  std::mt19937 rng(12345);
  std::vector<std::string> seeds;
  seeds.push_back(EncodePacket(*Pack(SampleGrant(), 4)));
  Request request;
  request.set_request_id(5);
  request.mutable_submit_begin()->set_circuit("c");
  seeds.push_back(EncodePacket(*Pack(request, 4)));
  Heartbeat beat;
  for (int i = 0; i < 5; ++i) beat.add_held()->set_word(~0ull);
  seeds.push_back(EncodePacket(*Pack(beat, 4)));
  auto attempt = [](const std::string& bytes) {
    auto frame = DecodePacket(Span(bytes));
    if (!frame.ok()) return;
    if (auto grant = Unpack<SynthGrant>(*frame); grant.ok()) {
      EXPECT_TRUE(Pack(*grant, frame->term).ok());
    }
    if (auto r = Unpack<Request>(*frame); r.ok()) {
      EXPECT_TRUE(Pack(*r, frame->term).ok());
    }
    if (auto b = Unpack<Heartbeat>(*frame); b.ok()) {
      EXPECT_TRUE(Pack(*b, frame->term).ok());
    }
  };
  for (const std::string& seed : seeds) {
    for (size_t n = 0; n < seed.size(); ++n) attempt(seed.substr(0, n));
    for (int i = 0; i < 3000; ++i) {
      std::string mutated = seed;
      for (int k = 0; k < 1 + i % 4; ++k) mutated[rng() % mutated.size()] = static_cast<char>(rng());
      attempt(mutated);
    }
  }
}

}  // namespace
}  // namespace proofline::wire
