// A worker process without mathematics, for tests of the coordinator: speaks the protocol, fills slots with a pattern, "proves" by
// writing a well-formed result, and misbehaves as told.
//
//   fake_worker RUN_DIR synth|gpu ORDINAL [BEHAVIOUR]
//
// BEHAVIOUR: "" does its work; "mute" never says Done or Failed; "twice" says everything twice; "slow:MS" works so long;
// "fail:CODE" fails every order with that ErrorCode; "garbage" writes a result that is none;
// "die:before", "die:half", "die:after" ends by SIGKILL on its first order: before it writes, half-way, after the word moved;
// "stop" stops itself (SIGSTOP) on its first order. A wipe is always done properly.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "core/groth16/result.h"
#include "core/wire/worker_link.h"
#include "shm/pidfd.h"
#include "shm/sections.h"
#include "shm/slot_memory.h"
#include "shm/slot_table.h"

namespace proofline {
namespace {

using shm::SlotState;
using shm::SlotWord;

void Check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "fake_worker: %s\n", status.ToString().c_str());
  _exit(3);
}
template <class T>
T Must(Result<T> result) {
  if (!result.ok()) Check(result.status());
  return *std::move(result);
}

class FakeWorker {
 public:
  FakeWorker(std::string run_dir, wire::Role role, uint32_t ordinal, std::string behaviour)
      : run_dir_(std::move(run_dir)), behaviour_(std::move(behaviour)) {
    wire::WorkerConfig config{run_dir_ + "/work.sock", run_dir_ + "/broker.sock", role, ordinal, 0, role == wire::ROLE_GPU ? "cpu" : "", "fake"};
    link_ = Must(wire::WorkerLink::Start(context_, config, Must(shm::OpenSelfPidfd()), 10'000, -1));
    table_ = std::make_unique<shm::SlotTable>(Must(shm::SlotTable::Attach(std::move(link_->attachment().table))));
    for (UniqueFd& fd : link_->attachment().slots) slots_.push_back(Must(shm::MapSlot(fd.get(), table_->layout())));
  }

  void Run() {
    while (true) {
      auto orders = link_->Turn({}, Report());
      if (!orders.ok()) _exit(0);  // a new table, or not wanted
      for (const wire::Frame& order : *orders) Obey(order);
    }
  }

 private:
  wire::WorkerReport Report() {
    wire::WorkerReport report;
    report.progress = ++progress_;
    for (uint32_t slot = 0; slot < slots_.size(); ++slot) {
      const SlotWord word = table_->Load(slot);
      if (word.instance != link_->instance()) continue;
      wire::HeldSlot held;
      held.set_slot(slot);
      held.set_word(word.Pack());
      held.set_progress(known_.contains(word.Pack()) ? progress_ : 0);
      report.held.push_back(held);
    }
    return report;
  }

  void Obey(const wire::Frame& frame) {
    if (frame.type == wire::MessageType::kSynthGrant) {
      const auto order = Must(wire::Unpack<wire::SynthGrant>(frame));
      if (Take(order.slot(), SlotState::kGrant, order.epoch())) Synthesize(order);
    } else if (frame.type == wire::MessageType::kGpuLease) {
      const auto order = Must(wire::Unpack<wire::GpuLease>(frame));
      if (Take(order.slot(), SlotState::kLease, order.epoch())) Prove(order);
    } else if (frame.type == wire::MessageType::kWipeOrder) {
      const auto order = Must(wire::Unpack<wire::WipeOrder>(frame));
      if (!Take(order.slot(), SlotState::kWipe, order.epoch())) return;
      shm::WipeSlot(slots_[order.slot()].data(), table_->layout());
      wire::Done done;
      Finish(order, SlotState::kFree, done);
    }
  }

  bool Take(uint32_t slot, SlotState state, uint32_t epoch) {
    const SlotWord word{state, link_->instance(), epoch};
    if (slot >= slots_.size() || !(table_->Load(slot) == word)) return false;
    known_.insert(word.Pack());
    return true;
  }

  void Trouble(const char* where) {
    if (behaviour_ == std::string("die:") + where) kill(getpid(), SIGKILL);
    if (behaviour_ == "stop" && std::strcmp(where, "half") == 0) raise(SIGSTOP);
    if (behaviour_.rfind("slow:", 0) == 0 && std::strcmp(where, "half") == 0) {
      // Heartbeats go on.
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::atoi(behaviour_.c_str() + 5));
      while (std::chrono::steady_clock::now() < end) {
        auto orders = link_->Turn({}, Report());
        if (!orders.ok()) _exit(0);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
  }

  template <class Order>
  bool FailsOnPurpose(const Order& order) {
    if (behaviour_.rfind("fail:", 0) != 0) return false;
    const auto code = static_cast<ErrorCode>(std::atoi(behaviour_.c_str() + 5));
    table_->WriteError(order.slot(), Status(code, "told to fail", "detail", "remedy"));
    wire::Failed failed;
    Finish(order, SlotState::kFailed, failed);
    return true;
  }

  void Synthesize(const wire::SynthGrant& order) {
    Trouble("before");
    if (FailsOnPurpose(order)) return;
    wire::GetInput request;
    request.set_job(order.job());
    request.set_partition(order.partition());
    request.set_slot(order.slot());
    request.set_epoch(order.epoch());
    const UniqueFd input = Must(wire::FetchInput(run_dir_ + "/broker.sock", request, 5000));
    char first = 0;
    if (pread(input.get(), &first, 1, 0) != 1) Check(Status(ErrorCode::kIo, "empty input"));
    const wire::Circuit& circuit = order.circuit();
    const auto sections = Must(shm::PlanPayload(circuit.n_vars(), uint64_t{1} << circuit.log2_domain(), table_->layout()));
    Check(table_->WriteSections(order.slot(), sections));
    for (const shm::SectionEntry& section : sections) {
      const MutableByteSpan bytes = shm::SectionBytes(slots_[order.slot()].data(), section);
      std::memset(bytes.data(), first, bytes.size() / 2);
      Trouble("half");
      std::memset(bytes.data(), first, bytes.size());
      shm::SealSection(slots_[order.slot()].data(), section);
    }
    wire::Done done;
    AddStage(done, "witness");
    Finish(order, SlotState::kReady, done);
  }

  void Prove(const wire::GpuLease& order) {
    Trouble("before");
    if (FailsOnPurpose(order)) return;
    const auto snapshot = Must(table_->Snapshot(order.slot(), table_->Load(order.slot())));
    uint8_t* slot = slots_[order.slot()].data();
    for (const shm::SectionEntry& section : snapshot.sections) Check(shm::VerifySection(slot, section));
    std::vector<uint8_t> bytes(ResultBytes(order.circuit().n_public()));
    std::memcpy(bytes.data(), behaviour_ == "garbage" ? "????" : "PRF1", 4);
    StoreLe(bytes.data() + 4, order.circuit().curve());
    StoreLe(bytes.data() + 8, order.circuit().n_public());
    // The input's first byte and the job, so that the test can tell whose result it is.
    bytes[16] = slot[snapshot.sections[0].offset];
    StoreLe(bytes.data() + 24, order.job());
    StoreLe(bytes.data() + 32, order.partition());
    const auto entry = Must(shm::PlanResult(bytes.size(), table_->layout()));
    std::memcpy(slot + entry.offset, bytes.data(), bytes.size() / 2);
    Trouble("half");
    std::memcpy(slot + entry.offset, bytes.data(), bytes.size());
    shm::SealSection(slot, entry);
    Check(table_->WriteResult(order.slot(), entry));
    wire::Done done;
    AddStage(done, "msm_h");
    Finish(order, SlotState::kResult, done);
  }

  static void AddStage(wire::Done& done, const char* name) {
    wire::StageTime* stage = done.add_stages();
    stage->set_stage(name);
    stage->set_work_ns(4242);
  }

  template <class Order, class Message>
  void Finish(const Order& order, SlotState to, Message& message) {
    const SlotWord from = table_->Load(order.slot());
    if (from.epoch != order.epoch() || from.instance != link_->instance()) return;
    if (!table_->TryTransition(order.slot(), from, {to, 0, from.epoch})) return;
    Trouble("after");
    message.set_slot(order.slot());
    message.set_epoch(order.epoch());
    if (behaviour_ == "mute") return;
    for (int i = 0; i < (behaviour_ == "twice" ? 2 : 1); ++i) link_->Notify(Must(wire::Pack(message, 0)));
  }

  std::string run_dir_;
  std::string behaviour_;
  wire::Context context_;
  std::unique_ptr<wire::WorkerLink> link_;
  std::unique_ptr<shm::SlotTable> table_;
  std::vector<shm::Mapping> slots_;
  std::set<uint64_t> known_;
  uint64_t progress_ = 0;
};

}  // namespace
}  // namespace proofline

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const auto role = std::strcmp(argv[2], "gpu") == 0 ? proofline::wire::ROLE_GPU : proofline::wire::ROLE_SYNTH;
  proofline::FakeWorker(argv[1], role, static_cast<uint32_t>(std::atoi(argv[3])), argc > 4 ? argv[4] : "").Run();
}
