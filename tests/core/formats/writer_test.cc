// The writers, held against files of circom and snarkjs: what is read from those and written again must say the same.
#include <filesystem>

#include "core/formats/curve_prime.h"
#include "core/formats/r1cs.h"
#include "core/formats/r1cs_writer.h"
#include "core/formats/wtns.h"
#include "core/formats/wtns_writer.h"
#include "core/formats/zkey.h"
#include "core/formats/zkey_writer.h"
#include "tests/core/formats/forge.h"

namespace proofline {
namespace {

using namespace testing;

class WriterTest : public ::testing::Test {
 protected:
  WriterTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "proofline-writer-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~WriterTest() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  size_t FileCount() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }
  std::string folder_;
};

TEST_F(WriterTest, WtnsIsCircomsByteForByte) {
  for (CurveId curve : kCurves) {
    for (std::string circuit : kCircuits) {
      Bytes file = Sample(curve, circuit + ".wtns");
      auto witness = ReadWtns(file, "W.wtns");
      ASSERT_TRUE(witness.ok());
      ASSERT_TRUE(WriteWtns(curve, witness->values, Path("w")).ok());
      EXPECT_EQ(ReadAll(Path("w")), file);
      EXPECT_EQ(std::filesystem::status(Path("w")).permissions(), std::filesystem::perms(0600));
    }
  }
}

TEST_F(WriterTest, R1csIsCircomsButForLabels) {
  for (CurveId curve : kCurves) {
    for (std::string circuit : kCircuits) {
      Bytes file = Sample(curve, circuit + ".r1cs");
      auto r1cs = ReadR1cs(file, "C.r1cs");
      ASSERT_TRUE(r1cs.ok());
      ASSERT_TRUE(WriteR1cs(r1cs->view, Path("c")).ok());
      Forge ours = Forge::Of(ReadAll(Path("c"))), theirs = Forge::Of(file);
      EXPECT_EQ(ours[2], theirs[2]);
      EXPECT_EQ(ours.parts[0].type, theirs.parts[0].type);
      // nLabels at 52: circom counts labels that got no wire.
      Put<uint64_t>(theirs[1], 52, r1cs->view.n_wires);
      EXPECT_EQ(ours[1], theirs[1]);
      EXPECT_EQ(ours[3].size(), theirs[3].size());
      Bytes again = ReadAll(Path("c"));
      EXPECT_TRUE(ReadR1cs(again, "C.r1cs").ok());
    }
  }
}

Bytes Join(std::initializer_list<ByteSpan> parts) {
  Bytes out;
  for (ByteSpan part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

Status WriteKey(ZkeyWriter& writer, const ProvingKeyView& v) {
  PL_RETURN_IF_ERROR(writer.Begin({v.curve, v.n_vars, v.n_public, v.log2_domain, v.coefficient_count()}));
  Bytes header = Join({v.alpha1, v.beta1, v.beta2, v.gamma2, v.delta1, v.delta2});
  struct Part {
    KeySink::Section type;
    ByteSpan bytes;
  };
  for (const Part& part : {Part{KeySink::kHeaderPoints, header}, Part{KeySink::kIc, v.ic}, Part{KeySink::kCoefficients, v.coefficients},
                           Part{KeySink::kA, v.a}, Part{KeySink::kB1, v.b1}, Part{KeySink::kB2, v.b2}, Part{KeySink::kC, v.c},
                           Part{KeySink::kH, v.h}}) {
    PL_RETURN_IF_ERROR(writer.BeginSection(part.type, part.bytes.size()));
    // In two pieces, as a generator would.
    size_t half = part.bytes.size() / 3;
    PL_RETURN_IF_ERROR(writer.Append(part.bytes.first(half)));
    PL_RETURN_IF_ERROR(writer.Append(part.bytes.subspan(half)));
  }
  return OkStatus();
}

TEST_F(WriterTest, ZkeyHoldsSnarkjssSections) {
  for (CurveId curve : kCurves) {
    for (std::string circuit : kCircuits) {
      Bytes file = Sample(curve, circuit + ".zkey");
      auto key = ReadZkey(file, "K.zkey");
      ASSERT_TRUE(key.ok());
      for (std::string note : {"", "made from a seed"}) {
        auto writer = ZkeyWriter::Create(Path("k"), note);
        ASSERT_TRUE(writer.ok());
        ASSERT_TRUE(WriteKey(*writer, key->view).ok());
        ASSERT_TRUE(writer->Finish({}).ok());
        Forge ours = Forge::Of(ReadAll(Path("k"))), theirs = Forge::Of(file);
        for (uint32_t s = 1; s <= 9; ++s) EXPECT_EQ(ours[s], theirs[s]) << "section " << s;
        EXPECT_EQ(ours[10], Bytes(68));
        Bytes again = ReadAll(Path("k"));
        auto read = ReadZkey(again, "K.zkey");
        ASSERT_TRUE(read.ok()) << read.status().ToString();
        EXPECT_EQ(read->known_secret, !note.empty());
        EXPECT_EQ(read->known_secret_note, note);
        EXPECT_TRUE(ReadContributions(*read).readable);
      }
    }
  }
}

TEST_F(WriterTest, NothingIsLeftOfAnUnfinishedKey) {
  Bytes file = Sample(CurveId::kBn254, "multiplier.zkey");
  auto key = ReadZkey(file, "K.zkey");
  ASSERT_TRUE(key.ok());
  {
    auto writer = ZkeyWriter::Create(Path("k"), "");
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(WriteKey(*writer, key->view).ok());
  }
  EXPECT_EQ(FileCount(), 0u);
}

TEST_F(WriterTest, WrongUseOfTheKeyWriterIsRefused) {
  const KeyShape shape{CurveId::kBn254, 4, 1, 2, 1};
  Bytes bytes(10000);
  auto writer = ZkeyWriter::Create(Path("k"), "");
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(writer->BeginSection(KeySink::kHeaderPoints, 576).code(), ErrorCode::kInternal);  // before Begin
  ASSERT_TRUE(writer->Begin(shape).ok());
  EXPECT_EQ(writer->BeginSection(KeySink::kIc, 128).code(), ErrorCode::kInternal);  // out of turn
  EXPECT_EQ(writer->BeginSection(KeySink::kHeaderPoints, 575).code(), ErrorCode::kInternal);
  ASSERT_TRUE(writer->BeginSection(KeySink::kHeaderPoints, 576).ok());
  EXPECT_EQ(writer->Append(bytes).code(), ErrorCode::kInternal);  // too much
  EXPECT_EQ(writer->BeginSection(KeySink::kIc, 128).code(), ErrorCode::kInternal);  // too little
  EXPECT_EQ(writer->Finish({}).code(), ErrorCode::kInternal);
  KeyShape large = shape;
  large.coefficient_count = uint64_t{1} << 32;
  EXPECT_EQ(writer->Begin(large).code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace proofline
