#include "shm/slot_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <fstream>
#include <numeric>

#include "shm/pidfd.h"
#include "shm/sections.h"
#include "shm/topology.h"

namespace proofline::shm {
namespace {

SlotLayout LayoutFor(uint64_t n_vars, uint64_t domain) {
  SlotNeed need = NeedOf(n_vars, domain, 500);
  return {1, need.slot_bytes, need.result_area_bytes};
}

Mapping Make(const SlotLayout& layout) {
  auto memory = CreateSlotMemory({.bytes = layout.slot_bytes, .node = std::nullopt});
  EXPECT_TRUE(memory.ok()) << memory.status().ToString();
  return std::move(MapSlot(memory->fd.get(), layout)).value();
}

TEST(SlotMemory, AllPagesExistAndSizeIsSealed) {
  auto memory = CreateSlotMemory({.bytes = 3 << 20, .node = std::nullopt, .huge_pages = false});
  ASSERT_TRUE(memory.ok()) << memory.status().ToString();
  struct stat st {};
  ASSERT_EQ(fstat(memory->fd.get(), &st), 0);
  EXPECT_EQ(st.st_size, 3 << 20);
  EXPECT_EQ(st.st_blocks * 512, 3 << 20);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  EXPECT_NE(ftruncate(memory->fd.get(), 1), 0);
  EXPECT_NE(ftruncate(memory->fd.get(), 4 << 20), 0);
  EXPECT_FALSE(memory->note.empty());
}

TEST(SlotMemory, RefusesWhatIsNoSlot) {
  SlotLayout layout{1, 1 << 20, 4096};
  EXPECT_EQ(CreateSlotMemory({.bytes = 0, .node = std::nullopt}).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CreateSlotMemory({.bytes = 100, .node = std::nullopt}).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CreateSlotMemory({.bytes = uint64_t{1} << 45, .node = std::nullopt}).status().code(), ErrorCode::kResource);
  auto small = CreateSlotMemory({.bytes = 4096, .node = std::nullopt});
  EXPECT_EQ(MapSlot(small->fd.get(), layout).status().code(), ErrorCode::kMismatch);
  EXPECT_EQ(MapResultWindow(small->fd.get(), layout).status().code(), ErrorCode::kMismatch);
  UniqueFd unsealed(memfd_create("x", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(unsealed.get(), 1 << 20), 0);
  EXPECT_EQ(MapSlot(unsealed.get(), layout).status().code(), ErrorCode::kMismatch);
}

TEST(SlotMemory, BindsToAnExistingNodeOnly) {
  auto topology = SystemTopology();
  uint32_t node = topology->nodes().front().id;
  auto bound = CreateSlotMemory({.bytes = 1 << 20, .node = node});
  EXPECT_TRUE(bound.ok()) << bound.status().ToString();
  EXPECT_FALSE(CreateSlotMemory({.bytes = 1 << 20, .node = 900}).ok());
  EXPECT_FALSE(CreateSlotMemory({.bytes = 1 << 20, .node = 100000}).ok());
}

TEST(SlotMemory, MappingsStayOutOfCoreDumps) {
  SlotLayout layout = LayoutFor(100, 128);
  Mapping slot = Make(layout);
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool in_slot = false, found = false;
  while (std::getline(smaps, line)) {
    if (line.find('-') < 17 && line.find(" rw-s ") != line.npos) in_slot = line.find("proofline-slot") != line.npos;
    if (in_slot && line.rfind("VmFlags:", 0) == 0) found = line.find(" dd") != line.npos, in_slot = false;
  }
  EXPECT_TRUE(found);
}

TEST(Sections, PlanIsTightAndDisjoint) {
  for (auto [n_vars, domain] : {std::pair<uint64_t, uint64_t>{2, 2}, {100, 128}, {40000, 65536}, {1 << 20, 1 << 20}}) {
    SlotLayout layout = LayoutFor(n_vars, domain);
    auto plan = PlanPayload(n_vars, domain, layout);
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    uint64_t end = layout.result_area_bytes;
    for (const SectionEntry& entry : *plan) {
      EXPECT_GE(entry.offset, end);
      end = entry.offset + entry.length_bytes;
    }
    for (const SectionEntry& entry : *plan) {
      EXPECT_GE(entry.checksum_offset, end);
      end = entry.checksum_offset + (entry.length_bytes + kChecksumBlockBytes - 1) / kChecksumBlockBytes * 8;
    }
    EXPECT_LE(end, layout.slot_bytes);
    EXPECT_LT(layout.slot_bytes - end, 4096u);
    layout.slot_bytes -= 4096;
    auto refused = PlanPayload(n_vars, domain, layout);
    EXPECT_EQ(refused.status().code(), ErrorCode::kResource);
    EXPECT_NE(refused.status().error().fact.find(std::to_string(layout.slot_bytes)), std::string::npos);
  }
  EXPECT_EQ(PlanPayload(UINT32_MAX, uint64_t{1} << 32, LayoutFor(2, 2)).status().code(), ErrorCode::kResource);
  EXPECT_EQ(PlanResult(1 << 20, LayoutFor(2, 2)).status().code(), ErrorCode::kResource);
}

TEST(Sections, TwoCircuitsFitTheirCommonNeed) {
  SlotNeed wide = NeedOf(10, 16, 100000), deep = NeedOf(50000, 65536, 500), both = Max(wide, deep);
  SlotLayout layout{1, both.slot_bytes, both.result_area_bytes};
  EXPECT_TRUE(PlanPayload(50000, 65536, layout).ok());
  EXPECT_TRUE(PlanResult(100000, layout).ok());
}

TEST(Sections, AnyChangedByteIsFound) {
  SlotLayout layout = LayoutFor(70000, 65536);  // three blocks, the last one short
  Mapping slot = Make(layout);
  auto plan = *PlanPayload(70000, 65536, layout);
  const SectionEntry& witness = plan[0];
  auto bytes = SectionBytes(slot.data(), witness);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  for (const auto& entry : plan) SealSection(slot.data(), entry);
  for (const auto& entry : plan) EXPECT_TRUE(VerifySection(slot.data(), entry).ok());
  EXPECT_EQ(LoadLe<uint64_t>(slot.data() + witness.checksum_offset + 16),
            XXH3_64bits(bytes.data() + 2 * kChecksumBlockBytes, bytes.size() - 2 * kChecksumBlockBytes));
  for (size_t at : {size_t{0}, size_t{kChecksumBlockBytes}, bytes.size() - 1}) {
    bytes[at] ^= 0x10;
    Status s = VerifySection(slot.data(), witness);
    EXPECT_EQ(s.code(), ErrorCode::kCrashed);
    EXPECT_NE(s.error().fact.find("MiB " + std::to_string(at / kChecksumBlockBytes)), std::string::npos)
        << s.ToString();
    bytes[at] ^= 0x10;
  }
  EXPECT_TRUE(VerifySection(slot.data(), witness).ok());
}

TEST(Sections, WipeLeavesNothing) {
  SlotLayout layout = LayoutFor(70000, 65536);
  Mapping slot = Make(layout);
  auto plan = *PlanPayload(70000, 65536, layout);
  for (const auto& entry : plan) {
    for (uint8_t& b : SectionBytes(slot.data(), entry)) b = 0xaa;
    SealSection(slot.data(), entry);
  }
  slot.data()[0] = 1;
  for (const auto& entry : plan) WipeSection(slot.data(), entry);
  EXPECT_EQ(std::count(slot.data() + 1, slot.data() + layout.slot_bytes, 0),
            static_cast<ptrdiff_t>(layout.slot_bytes - 1));
  WipeSlot(slot.data(), layout);
  EXPECT_EQ(slot.data()[0], 0);
}

TEST(Sections, ResultIsCopiedThroughTheWindow) {
  SlotLayout layout = LayoutFor(100, 128);
  auto memory = CreateSlotMemory({.bytes = layout.slot_bytes, .node = std::nullopt});
  Mapping slot = std::move(MapSlot(memory->fd.get(), layout)).value();
  Mapping window = std::move(MapResultWindow(memory->fd.get(), layout)).value();
  EXPECT_EQ(window.size_bytes(), layout.result_area_bytes);
  auto entry = *PlanResult(500, layout);
  auto bytes = SectionBytes(slot.data(), entry);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  EXPECT_EQ(CopyResult(window.data(), entry, layout).status().code(), ErrorCode::kCrashed);  // not sealed
  SealSection(slot.data(), entry);
  auto copy = CopyResult(window.data(), entry, layout);
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  EXPECT_TRUE(std::equal(copy->begin(), copy->end(), bytes.begin(), bytes.end()));
  EXPECT_EQ(CopyResult(window.data(), SectionEntry{}, layout).status().code(), ErrorCode::kMismatch);
}

TEST(Pidfd, OnlyPidfdsPass) {
  auto self = OpenSelfPidfd();
  ASSERT_TRUE(self.ok());
  EXPECT_TRUE(CheckPidfd(self->get()).ok());
  EXPECT_FALSE(HasExited(self->get()));
  UniqueFd null(open("/dev/null", O_RDONLY));
  EXPECT_EQ(CheckPidfd(null.get()).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CheckPidfd(-1).code(), ErrorCode::kInvalidArgument);
}

TEST(Topology, IsPlausible) {
  auto topology = SystemTopology();
  EXPECT_GE(topology->usable_cores(), 1u);
  ASSERT_FALSE(topology->nodes().empty());
  EXPECT_FALSE(topology->nodes().front().cpus.empty());
  EXPECT_TRUE(BindThisThread(*topology, topology->nodes().front().id).ok());
  EXPECT_EQ(BindThisThread(*topology, 4000).code(), ErrorCode::kInvalidArgument);
  EXPECT_GT(AvailableMemoryBytes(), uint64_t{1} << 20);
}

}  // namespace
}  // namespace proofline::shm
