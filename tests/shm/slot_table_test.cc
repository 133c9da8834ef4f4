#include "shm/slot_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "shm/sections.h"

namespace proofline::shm {
namespace {

constexpr SlotLayout kLayout{3, 1 << 20, 8192};

SlotTable MakeTable() { return std::move(SlotTable::Create(kLayout)).value(); }

// The raw bytes of a table as another process would see and spoil them.
Mapping Raw(const SlotTable& table) {
  return std::move(Mapping::Map(table.fd(), sizeof(TableHeader) + kLayout.slot_count * sizeof(SlotHeader),
                                Mapping::Access::kReadWrite))
      .value();
}
SlotHeader& RawSlot(const Mapping& raw, uint32_t slot) {
  return *reinterpret_cast<SlotHeader*>(raw.data() + sizeof(TableHeader) + slot * sizeof(SlotHeader));
}
Result<SlotTable> AttachCopy(const SlotTable& table) { return SlotTable::Attach(UniqueFd(dup(table.fd()))); }

TEST(SlotWord, PacksWithoutOverlap) {
  SlotWord w{SlotState::kLease, 0xabcdef, 0x12345678};
  EXPECT_EQ(w.Pack(), 0x12345678abcdef03u);
  EXPECT_EQ(SlotWord::Unpack(w.Pack()), w);
}

TEST(SlotTable, NewTableIsFreeAndSealed) {
  SlotTable table = MakeTable();
  for (uint32_t i = 0; i < kLayout.slot_count; ++i) EXPECT_EQ(table.Load(i), SlotWord{});
  EXPECT_NE(table.generation(), 0u);
  EXPECT_NE(ftruncate(table.fd(), 0), 0);
  EXPECT_NE(fcntl(table.fd(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  auto other = AttachCopy(table);
  ASSERT_TRUE(other.ok()) << other.status().ToString();
  EXPECT_EQ(other->layout().slot_bytes, kLayout.slot_bytes);
  EXPECT_EQ(other->generation(), table.generation());
}

TEST(SlotTable, RefusesImpossibleLayouts) {
  for (SlotLayout bad :
       {SlotLayout{0, 8192, 4096}, SlotLayout{kMaxSlots + 1, 8192, 4096}, SlotLayout{1, 0, 4096},
        SlotLayout{1, UINT64_MAX, 4096}, SlotLayout{1, 4096, 8192}, SlotLayout{1, 8192, UINT64_MAX - 5}})
    EXPECT_EQ(SlotTable::Create(bad).status().code(), ErrorCode::kInvalidArgument);
}

TEST(SlotTable, OnlyTheExactWordMoves) {
  SlotTable table = MakeTable();
  SlotTable other = std::move(AttachCopy(table)).value();
  SlotWord granted{SlotState::kGrant, 7, 1};
  EXPECT_TRUE(table.TryTransition(0, SlotWord{}, granted));
  EXPECT_FALSE(other.TryTransition(0, {SlotState::kGrant, 8, 1}, {SlotState::kReady, 0, 1}));  // another owner
  EXPECT_FALSE(other.TryTransition(0, {SlotState::kGrant, 7, 0}, {SlotState::kReady, 0, 0}));  // an old epoch
  EXPECT_EQ(table.Load(0), granted);
  EXPECT_TRUE(other.TryTransition(0, granted, {SlotState::kReady, 0, 1}));
  EXPECT_EQ(table.Load(0).state, SlotState::kReady);
  EXPECT_EQ(table.Load(1), SlotWord{});
}

TEST(SlotTable, LateOwnerIsFencedByEpoch) {
  SlotTable table = MakeTable();
  SlotWord first{SlotState::kGrant, 7, 1};
  ASSERT_TRUE(table.TryTransition(0, SlotWord{}, first));
  SlotWord quarantined{SlotState::kQuarantine, 7, 2};
  ASSERT_TRUE(table.TryTransition(0, first, quarantined));
  EXPECT_FALSE(table.TryTransition(0, first, {SlotState::kReady, 0, 1}));
  ASSERT_TRUE(table.TryTransition(0, quarantined, {SlotState::kFree, 0, 3}));
  // Granted again to the same instance: its older self must still fail.
  ASSERT_TRUE(table.TryTransition(0, {SlotState::kFree, 0, 3}, {SlotState::kGrant, 7, 4}));
  EXPECT_FALSE(table.TryTransition(0, first, {SlotState::kReady, 0, 1}));
}

TEST(SlotTable, InstancesAreNeverGivenTwice) {
  SlotTable table = MakeTable();
  EXPECT_EQ(*table.NextInstance(), 1u);
  EXPECT_EQ(*table.NextInstance(), 2u);
  SlotTable restarted = std::move(AttachCopy(table)).value();
  EXPECT_EQ(*restarted.NextInstance(), 3u);
  auto raw = Raw(table);
  reinterpret_cast<TableHeader*>(raw.data())->next_instance = kMaxInstance;
  EXPECT_EQ(table.NextInstance().status().code(), ErrorCode::kResource);
}

TEST(SlotTable, HeaderTravelsWithItsWord) {
  SlotTable table = MakeTable();
  SlotTable worker = std::move(AttachCopy(table)).value();
  SlotAssignment assignment{11, 2, 1, 5};
  table.WriteAssignment(1, assignment);
  SlotWord granted{SlotState::kGrant, 3, 1}, failed{SlotState::kFailed, 3, 1};
  ASSERT_TRUE(table.TryTransition(1, SlotWord{}, granted));
  auto plan = PlanPayload(100, 128, kLayout);
  ASSERT_TRUE(plan.ok());
  ASSERT_TRUE(worker.WriteSections(1, *plan).ok());
  worker.WriteError(1, Status(ErrorCode::kUnsatisfied, "the fact", "the detail", "the remedy"));
  ASSERT_TRUE(worker.TryTransition(1, granted, failed));
  auto snapshot = table.Snapshot(1, failed);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().ToString();
  EXPECT_EQ(snapshot->assignment, assignment);
  ASSERT_EQ(snapshot->sections.size(), 3u);
  EXPECT_EQ(snapshot->Find(SectionKind::kRowsB)->length_bytes, 128u * 32);
  EXPECT_EQ(snapshot->Find(SectionKind::kResult), nullptr);
  EXPECT_EQ(snapshot->error.code(), ErrorCode::kUnsatisfied);
  EXPECT_EQ(snapshot->error.error().fact, "the fact");
  EXPECT_EQ(snapshot->error.error().detail, "the detail");
  EXPECT_EQ(snapshot->error.error().remedy, "the remedy");
  EXPECT_EQ(table.Snapshot(1, granted).status().code(), ErrorCode::kUnavailable);
  table.WriteAssignment(1, assignment);
  EXPECT_TRUE(table.Snapshot(1, failed)->sections.empty());
  EXPECT_TRUE(table.Snapshot(1, failed)->error.ok());
}

TEST(SlotTable, LongErrorTextIsCut) {
  SlotTable table = MakeTable();
  table.WriteError(0, Status(ErrorCode::kIo, std::string(5000, 'x')));
  EXPECT_EQ(table.Snapshot(0, SlotWord{})->error.error().fact.size(), kErrorTextBytes);
}

TEST(SlotTable, SpoiledHeadersAreErrors) {
  SlotTable table = MakeTable();
  Mapping raw = Raw(table);
  SlotHeader& h = RawSlot(raw, 0);
  auto plan = *PlanPayload(100, 128, kLayout);
  auto expect_mismatch = [&](const char* what) {
    EXPECT_EQ(table.Snapshot(0, SlotWord{}).status().code(), ErrorCode::kMismatch) << what;
  };
  auto reset = [&] {
    table.WriteAssignment(0, {});
    ASSERT_TRUE(table.WriteSections(0, plan).ok());
    ASSERT_TRUE(table.Snapshot(0, SlotWord{}).ok());
  };
  reset(), h.section_count = kMaxSections + 1, expect_mismatch("count");
  reset(), h.error_text_bytes = kErrorTextBytes + 1, expect_mismatch("text");
  reset(), h.sections[1].offset = 64, expect_mismatch("inside the result area");
  reset(), h.sections[1].offset += 1, expect_mismatch("unaligned");
  reset(), h.sections[1].offset = UINT64_MAX - 63, expect_mismatch("offset wraps");
  reset(), h.sections[1].length_bytes = UINT64_MAX, expect_mismatch("length wraps");
  reset(), h.sections[1].length_bytes = kLayout.slot_bytes, expect_mismatch("too long");
  reset(), h.sections[1].checksum_offset = kLayout.slot_bytes, expect_mismatch("checksums past the end");
  reset(), h.sections[1].checksum_offset = UINT64_MAX - 7, expect_mismatch("checksum offset wraps");
  reset(), h.sections[0].kind = 0, expect_mismatch("no kind");
  reset(), h.sections[0].kind = 99, expect_mismatch("unknown kind");
  reset(), h.result = plan[0], expect_mismatch("result of another kind");
  reset();
  h.result = {static_cast<uint32_t>(SectionKind::kResult), 3, 0, kLayout.result_area_bytes + 1, 0};
  expect_mismatch("result too long");
  reset(), h.error_code = 250;
  EXPECT_EQ(table.Snapshot(0, SlotWord{})->error.code(), ErrorCode::kInternal);
  EXPECT_EQ(table.WriteSections(0, {SectionEntry{1, 1, 0, 32, 0}}).code(), ErrorCode::kInternal);
}

TEST(SlotTable, AttachRefusesWhatIsNoTable) {
  auto spoil = [](auto change) {
    SlotTable table = MakeTable();
    Mapping raw = Raw(table);
    change(*reinterpret_cast<TableHeader*>(raw.data()));
    return AttachCopy(table).status().code();
  };
  EXPECT_EQ(spoil([](TableHeader& h) { h.magic ^= 1; }), ErrorCode::kMismatch);
  EXPECT_EQ(spoil([](TableHeader& h) { h.layout_version = 2; }), ErrorCode::kMismatch);
  EXPECT_EQ(spoil([](TableHeader& h) { h.slot_count += 1; }), ErrorCode::kMismatch);
  EXPECT_EQ(spoil([](TableHeader& h) { h.slot_count = 0xffffffff; }), ErrorCode::kMismatch);
  EXPECT_EQ(spoil([](TableHeader& h) { h.slot_bytes = 100; }), ErrorCode::kMismatch);
  EXPECT_EQ(spoil([](TableHeader& h) { h.result_area_bytes = h.slot_bytes + 4096; }), ErrorCode::kMismatch);
  UniqueFd plain(memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(plain.get(), 1 << 16), 0);
  EXPECT_EQ(SlotTable::Attach(UniqueFd(dup(plain.get()))).status().code(), ErrorCode::kMismatch);  // not sealed
  ASSERT_EQ(fcntl(plain.get(), F_ADD_SEALS, kRequiredSeals), 0);
  EXPECT_EQ(SlotTable::Attach(UniqueFd(dup(plain.get()))).status().code(), ErrorCode::kMismatch);  // no magic
  EXPECT_EQ(SlotTable::Attach(UniqueFd(open("/dev/null", O_RDWR))).status().code(), ErrorCode::kMismatch);
  EXPECT_EQ(SlotTable::Attach(UniqueFd()).status().code(), ErrorCode::kMismatch);
}

// Threads in place of processes, so that the thread sanitizer sees the ordering of payload against the word.
TEST(SlotTable, PayloadIsSeenAfterTheWord) {
  SlotTable table = MakeTable();
  uint64_t payload = 0;
  constexpr uint32_t kRounds = 2000;
  std::thread writer([&] {
    for (uint32_t epoch = 1; epoch <= kRounds; ++epoch) {
      SlotWord granted{SlotState::kGrant, 1, epoch};
      while (!(table.Load(0) == granted)) std::this_thread::yield();
      payload = epoch;
      EXPECT_TRUE(table.TryTransition(0, granted, {SlotState::kReady, 0, epoch}));
    }
  });
  SlotWord now{};
  for (uint32_t epoch = 1; epoch <= kRounds; ++epoch) {
    ASSERT_TRUE(table.TryTransition(0, now, {SlotState::kGrant, 1, epoch}));
    now = {SlotState::kReady, 0, epoch};
    while (!(table.Load(0) == now)) std::this_thread::yield();
    ASSERT_EQ(payload, epoch);
  }
  writer.join();
}

}  // namespace
}  // namespace proofline::shm
