// The slot protocol under kill -9 and SIGSTOP, with real processes, memfds and pidfds: a coordinator loop in the test
// process, synthesis workers and a GPU owner as forked children that write and read small payloads. Invariants: no torn
// or foreign payload is ever "proved", each partition is committed exactly once, every slot is free at the end.

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <random>
#include <set>

#include "shm/pidfd.h"
#include "shm/sections.h"
#include "shm/slot_memory.h"
#include "shm/slot_table.h"

namespace proofline::shm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kVars = 512, kDomain = 512;
constexpr uint32_t kSlots = 3;

struct Shared {
  SlotTable table;
  std::vector<SlotMemory> memory;
};

Shared MakeShared() {
  SlotNeed need = NeedOf(kVars, kDomain, 64);
  Shared s{std::move(SlotTable::Create({kSlots, need.slot_bytes, need.result_area_bytes})).value(), {}};
  for (uint32_t i = 0; i < kSlots; ++i)
    s.memory.push_back(
        std::move(CreateSlotMemory({.bytes = s.table.layout().slot_bytes, .node = std::nullopt})).value());
  return s;
}

uint64_t Tag(const SlotAssignment& a) { return uint64_t{a.partition} << 32 | a.attempt; }

void FillSection(uint8_t* slot, const SectionEntry& entry, uint64_t tag) {
  auto bytes = SectionBytes(slot, entry);
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) StoreLe(bytes.data() + i, tag);
}

// 0 if not all words of the section are the same.
uint64_t OneTag(uint8_t* slot, const SectionEntry& entry) {
  auto bytes = SectionBytes(slot, entry);
  uint64_t tag = LoadLe<uint64_t>(bytes.data());
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8)
    if (LoadLe<uint64_t>(bytes.data() + i) != tag) return 0;
  return tag;
}

// Children never return; they end by a signal of the parent.
[[noreturn]] void SynthMain(SlotTable& table, std::vector<Mapping>& slots, uint32_t instance) {
  for (;;) {
    for (uint32_t i = 0; i < kSlots; ++i) {
      SlotWord word = table.Load(i);
      if (word.instance != instance) continue;
      uint8_t* slot = slots[i].data();
      if (word.state == SlotState::kWipe) {
        WipeSlot(slot, table.layout());
        table.TryTransition(i, word, {SlotState::kFree, 0, word.epoch});
      } else if (word.state == SlotState::kGrant) {
        auto snapshot = table.Snapshot(i, word);
        if (!snapshot.ok()) continue;
        auto plan = *PlanPayload(kVars, kDomain, table.layout());
        if (!table.WriteSections(i, plan).ok()) continue;
        for (const auto& entry : plan) {
          FillSection(slot, entry, Tag(snapshot->assignment));
          usleep(200);
        }
        table.TryTransition(i, word, {SlotState::kReady, 0, word.epoch});
      }
    }
    usleep(100);
  }
}

// No checksums here: the fence alone must keep foreign bytes away.
[[noreturn]] void GpuMain(SlotTable& table, std::vector<Mapping>& slots, uint32_t instance) {
  for (;;) {
    for (uint32_t i = 0; i < kSlots; ++i) {
      SlotWord word = table.Load(i);
      if (word.instance != instance || word.state != SlotState::kLease) continue;
      auto snapshot = table.Snapshot(i, word);
      if (!snapshot.ok() || snapshot->sections.size() != 3) continue;
      uint64_t tag = OneTag(slots[i].data(), snapshot->sections[0]);
      for (const auto& entry : snapshot->sections) {
        usleep(200);
        if (OneTag(slots[i].data(), entry) != tag) tag = 0;
      }
      auto entry = *PlanResult(16, table.layout());
      StoreLe(slots[i].data() + entry.offset, tag);
      StoreLe(slots[i].data() + entry.offset + 8, Tag(snapshot->assignment));
      SealSection(slots[i].data(), entry);
      if (table.WriteResult(i, entry).ok()) table.TryTransition(i, word, {SlotState::kResult, 0, word.epoch});
    }
    usleep(100);
  }
}

class Chaos {
 public:
  Chaos(uint32_t partitions, uint64_t seed, bool fenced)
      : shared_(MakeShared()), rng_(seed), fenced_(fenced), attempts_(partitions, 0) {
    for (auto& m : shared_.memory) {
      slots_.push_back(std::move(MapSlot(m.fd.get(), table().layout())).value());
      windows_.push_back(std::move(MapResultWindow(m.fd.get(), table().layout())).value());
    }
  }
  ~Chaos() {
    for (auto& [instance, worker] : workers_) kill(worker.pid, SIGKILL), waitpid(worker.pid, nullptr, 0);
  }

  void Run(std::chrono::seconds limit) {
    auto end = Clock::now() + limit;
    for (int i = 0; i < 3; ++i) Start(false);
    Start(true);
    while (Clock::now() < end && (commits_.size() < attempts_.size() || !AllFree())) {
      Reap();
      for (uint32_t i = 0; i < kSlots; ++i) Step(i);
      Disturb();
      usleep(200);
    }
  }

  bool AllFree() {
    for (uint32_t i = 0; i < kSlots; ++i)
      if (table().Load(i).state != SlotState::kFree) return false;
    return true;
  }
  size_t committed() const { return commits_.size(); }
  int torn() const { return torn_; }
  int deaths() const { return deaths_; }

 private:
  struct Worker {
    pid_t pid;
    UniqueFd pidfd;
    bool gpu;
  };
  struct Deadline {
    uint64_t word = 0;
    Clock::time_point since;
  };

  SlotTable& table() { return shared_.table; }

  void Start(bool gpu) {
    uint32_t instance = *table().NextInstance();
    pid_t pid = fork();
    if (pid == 0) gpu ? GpuMain(table(), slots_, instance) : SynthMain(table(), slots_, instance);
    workers_[instance] = {pid, UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))), gpu};
  }

  void Reap() {
    std::vector<std::pair<uint32_t, bool>> dead;
    for (auto& [instance, worker] : workers_)
      if (HasExited(worker.pidfd.get())) dead.emplace_back(instance, worker.gpu);
    for (auto [instance, gpu] : dead) {
      waitpid(workers_[instance].pid, nullptr, 0);
      workers_.erase(instance);
      ++deaths_;
      Start(gpu);
    }
  }

  uint32_t Pick(bool gpu) {
    std::vector<uint32_t> all;
    for (auto& [instance, worker] : workers_)
      if (worker.gpu == gpu) all.push_back(instance);
    return all[rng_() % all.size()];
  }

  void To(uint32_t slot, const SlotWord& word, SlotState state, uint32_t instance) {
    table().TryTransition(slot, word, {state, instance, word.epoch + 1});
  }

  bool InFlight(uint32_t partition) {
    for (uint32_t i = 0; i < kSlots; ++i) {
      SlotWord word = table().Load(i);
      auto s = table().Snapshot(i, word);
      if (word.state != SlotState::kFree && word.state != SlotState::kWipe && s.ok() &&
          s->assignment.partition == partition)
        return true;
    }
    return false;
  }

  void Step(uint32_t slot) {
    SlotWord word = table().Load(slot);
    switch (word.state) {
      case SlotState::kFree:
        return Grant(slot, word);
      case SlotState::kReady:
        return To(slot, word, SlotState::kLease, Pick(true));
      case SlotState::kResult:
        return Commit(slot, word);
      case SlotState::kGrant:
      case SlotState::kLease:
      case SlotState::kWipe:
        return Watch(slot, word);
      case SlotState::kQuarantine:
        if (workers_.count(word.instance)) return;  // not confirmed dead yet
        return from_lease_.count(slot) ? To(slot, word, SlotState::kReady, 0)
                                       : To(slot, word, SlotState::kWipe, Pick(false));
      case SlotState::kFailed:
        return;
    }
  }

  void Grant(uint32_t slot, const SlotWord& word) {
    for (uint32_t p = 0; p < attempts_.size(); ++p) {
      if (commits_.count(p) || InFlight(p)) continue;
      table().WriteAssignment(slot, {1, p, ++attempts_[p], 1});
      return To(slot, word, SlotState::kGrant, Pick(false));
    }
  }

  void Watch(uint32_t slot, const SlotWord& word) {
    Deadline& d = deadlines_[slot];
    if (d.word != word.Pack()) d = {word.Pack(), Clock::now()};
    bool dead = !workers_.count(word.instance);
    if (!dead && Clock::now() - d.since < patience_) return;
    from_lease_.erase(slot);
    if (word.state == SlotState::kLease) from_lease_.insert(slot);
    if (!fenced_)
      return word.state == SlotState::kLease ? To(slot, word, SlotState::kReady, 0)
                                             : To(slot, word, SlotState::kFree, 0);
    To(slot, word, SlotState::kQuarantine, word.instance);
    if (dead) return;
    EXPECT_TRUE(KillByPidfd(workers_[word.instance].pidfd.get()).ok());
    if (++late_ % 20 == 0) patience_ *= 2;
  }

  void Commit(uint32_t slot, const SlotWord& word) {
    auto s = table().Snapshot(slot, word);
    ASSERT_TRUE(s.ok()) << s.status().ToString();
    auto bytes = CopyResult(windows_[slot].data(), s->result, table().layout());
    uint32_t p = s->assignment.partition;
    // A checksum that does not fit is a torn result too.
    if (!bytes.ok() || LoadLe<uint64_t>(bytes->data()) != Tag(s->assignment) || LoadLe<uint64_t>(bytes->data() + 8) != Tag(s->assignment))
      ++torn_;
    late_ = 0;
    if (s->assignment.attempt == attempts_[p]) {
      EXPECT_EQ(commits_.count(p), 0u) << "partition " << p << " twice";
      commits_.insert(p);
    }
    To(slot, word, SlotState::kWipe, Pick(false));
  }

  void Disturb() {
    const auto period = static_cast<uint64_t>(patience_.count());
    if (rng_() % period == 0) kill(workers_[Pick(rng_() % 4 == 0)].pid, SIGKILL);
    if (rng_() % period == 0) {
      pid_t pid = workers_[Pick(rng_() % 4 == 0)].pid;
      kill(pid, SIGSTOP);
      stopped_.emplace_back(Clock::now() + std::chrono::milliseconds(rng_() % 150), pid);
    }
    // Only processes that still are our children: a reaped one's number may be somebody else's.
    std::erase_if(stopped_, [&](auto& s) {
      if (Clock::now() < s.first) return false;
      for (auto& [instance, worker] : workers_)
        if (worker.pid == s.second) kill(s.second, SIGCONT);
      return true;
    });
  }

  Shared shared_;
  std::vector<Mapping> slots_, windows_;
  std::mt19937_64 rng_;
  bool fenced_;
  std::vector<uint32_t> attempts_;
  std::set<uint32_t> commits_;
  std::set<uint32_t> from_lease_;
  std::map<uint32_t, Worker> workers_;
  std::map<uint32_t, Deadline> deadlines_;
  std::vector<std::pair<Clock::time_point, pid_t>> stopped_;
  int torn_ = 0, deaths_ = 0;
  // A deadline, and the mean time between disturbances. Grows where 20 workers in a row were too slow for it: sanitizers on a busy machine.
  std::chrono::milliseconds patience_{60};
  int late_ = 0;
};

uint64_t Seed() {
  const char* given = getenv("PROOFLINE_SEED");
  uint64_t seed = given ? strtoull(given, nullptr, 10) : std::random_device()();
  printf("PROOFLINE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

TEST(SlotChaos, FencedNeverTears) {
  Chaos chaos(100, Seed(), true);
  chaos.Run(std::chrono::seconds(200));  // ends long before, unless sanitizers meet a busy machine
  EXPECT_EQ(chaos.torn(), 0);
  EXPECT_EQ(chaos.committed(), 100u);
  EXPECT_TRUE(chaos.AllFree());
  EXPECT_GT(chaos.deaths(), 0);
}

TEST(SlotChaos, DISABLED_UnfencedTears) {
  int torn = 0;
  for (int round = 0; round < 10 && torn == 0; ++round) {
    Chaos chaos(100000, Seed(), false);
    chaos.Run(std::chrono::seconds(8));
    torn = chaos.torn();
  }
  EXPECT_GT(torn, 0) << "without the fence the test must see torn payload";
}

// A killed owner leaves a table that works: no lock was held, the next owner is granted at once.
TEST(SlotProcess, KilledMidWriteLeavesNothingBehind) {
  Shared shared = MakeShared();
  SlotTable& table = shared.table;
  Mapping slot = std::move(MapSlot(shared.memory[0].fd.get(), table.layout())).value();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  table.WriteAssignment(0, {1, 0, 1, 1});
  SlotWord granted{SlotState::kGrant, 5, 1};
  ASSERT_TRUE(table.TryTransition(0, SlotWord{}, granted));
  auto plan = *PlanPayload(kVars, kDomain, table.layout());
  pid_t pid = fork();
  if (pid == 0) {
    if (!table.WriteSections(0, plan).ok()) _exit(1);
    slot.data()[plan[0].offset] = 0xee;
    if (write(ready[1], "x", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char c;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  EXPECT_FALSE(HasExited(pidfd.get()));
  SlotWord quarantined{SlotState::kQuarantine, 5, 2};
  ASSERT_TRUE(table.TryTransition(0, granted, quarantined));
  ASSERT_TRUE(KillByPidfd(pidfd.get()).ok());
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(HasExited(pidfd.get()));
  EXPECT_TRUE(KillByPidfd(pidfd.get()).ok()) << "killing the dead is no error";
  auto snapshot = table.Snapshot(0, quarantined);
  ASSERT_TRUE(snapshot.ok());
  ASSERT_EQ(snapshot->sections.size(), 3u) << "the extent to wipe is known";
  EXPECT_EQ(slot.data()[plan[0].offset], 0xee);
  for (const auto& entry : snapshot->sections) WipeSection(slot.data(), entry);
  EXPECT_EQ(slot.data()[plan[0].offset], 0);
  EXPECT_TRUE(table.TryTransition(0, quarantined, {SlotState::kFree, 0, 3}));
  close(ready[0]), close(ready[1]);
}

}  // namespace
}  // namespace proofline::shm
