// The real coordinator process, fake workers, hostile and forgetful clients.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "core/base/bytes.h"
#include "core/groth16/result.h"
#include "shm/pidfd.h"
#include "shm/slot_memory.h"
#include "shm/slot_table.h"
#include "stack_under_test.h"

namespace proofline::coordinator {
namespace {

TEST_F(StackTest, ThreePartitionsGoThroughRealProcesses) {
  StartCoordinator();
  StartWorkers();
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ack = client().Submit("mult", {'a', 'b', 'c'});
  ASSERT_TRUE(ack.ok()) << ack.status().ToString();
  EXPECT_EQ(ack->job_name(), "j" + std::to_string(ack->job()));
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok()) << view.status().ToString() << CoordinatorLog();
  EXPECT_EQ(view->state(), wire::JOB_DONE);
  EXPECT_GT(view->ended_unix_ms(), 0);
  ASSERT_EQ(view->partitions_size(), 3);
  for (const auto& part : view->partitions()) {
    EXPECT_EQ(part.attempt(), 1u);
    std::vector<std::string> stages;
    for (const auto& stage : part.stages()) stages.push_back(stage.stage());
    EXPECT_EQ(stages, (std::vector<std::string>{"synth", "witness", "gpu", "msm_h"}));
    EXPECT_GT(part.stages(0).work_ns(), 0u);
    EXPECT_EQ(part.stages(1).work_ns(), 4242u);
  }
  for (uint32_t i = 0; i < 3; ++i) ExpectResult(client(), ack->job(), i, static_cast<char>('a' + i));
  ExpectAllFree();
  const auto status = client().GetStatus();
  EXPECT_EQ(status.jobs().finished(), 1u);
  EXPECT_EQ(status.partitions().finished(), 3u);
  EXPECT_EQ(status.workers_size(), 2);
  ExpectBalance();
}

TEST_F(StackTest, NothingOfAnInputIsLeftAfterTheJob) {
  StartCoordinator();
  StartWorkers();
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ack = client().Submit("mult", {'S'});
  ASSERT_TRUE(client().Wait(ack->job_name()).ok());
  ExpectAllFree();
  // Attach without a greeting: descriptors, no work.
  auto connection = wire::BrokerConnection::Connect(run_dir() + "/broker.sock", 5000);
  wire::Hello hello;
  hello.set_role(wire::ROLE_SYNTH);
  hello.set_pid(getpid());
  const UniqueFd pidfd = *shm::OpenSelfPidfd();
  auto attached = wire::AttachToBroker(*connection, hello, pidfd.get());
  ASSERT_TRUE(attached.ok()) << attached.status().ToString();
  const auto table = shm::SlotTable::Attach(std::move(attached->table));
  for (const UniqueFd& fd : attached->slots) {
    const auto slot = shm::MapSlot(fd.get(), table->layout());
    ASSERT_TRUE(slot.ok());
    size_t nonzero = 0;
    for (uint64_t i = table->layout().result_area_bytes; i < slot->size_bytes(); ++i) nonzero += slot->data()[i] != 0;
    EXPECT_EQ(nonzero, 0u);
  }
  for (int i = 0; i < 200 && !std::filesystem::is_empty(dir_.path() + "/spool"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path() + "/spool"));
}

TEST_F(StackTest, AnIdJoinsTheSameContentAndRefusesOther) {
  StartCoordinator();
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto first = client().Submit("mult", {'a'}, "my-id");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->job_name(), "my-id");
  EXPECT_FALSE(first->joined());
  const auto again = client().Submit("mult", {'a'}, "my-id");
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->joined());
  EXPECT_EQ(again->job(), first->job());
  EXPECT_EQ(client().Submit("mult", {'b'}, "my-id").status().code(), ErrorCode::kConflict);
  StartWorkers();
  ASSERT_TRUE(client().Wait("my-id").ok());
  EXPECT_TRUE(client().Submit("mult", {'a'}, "my-id")->joined());
  EXPECT_EQ(client().Submit("mult", {'b'}, "my-id").status().code(), ErrorCode::kConflict);
  coordinator_.Kill();
  RestartCoordinator();
  EXPECT_TRUE(client().Submit("mult", {'a'}, "my-id")->joined());
  ExpectResult(client(), first->job(), 0, 'a');
  EXPECT_EQ(client().Submit("mult", {'a'}, "j77").status().code(), ErrorCode::kInvalidArgument);
}

TEST_F(StackTest, WrongInputIsNotRetriedAndItsReasonArrives) {
  StartCoordinator();
  StartWorkers("fail:3");
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ack = client().Submit("mult", {'x'});
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->state(), wire::JOB_FAILED);
  EXPECT_EQ(view->partitions(0).attempt(), 1u);
  EXPECT_EQ(view->partitions(0).error().code(), static_cast<uint32_t>(ErrorCode::kUnsatisfied));
  EXPECT_EQ(view->partitions(0).error().fact(), "told to fail");
  EXPECT_EQ(view->partitions(0).error().remedy(), "remedy");
}

TEST_F(StackTest, AResultThatIsNoneIsRefusedAndProvedAgain) {
  StartCoordinator();
  workers_.push_back(StartWorker("synth"));
  Process bad = StartWorker("gpu", "garbage");
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ack = client().Submit("mult", {'x'});
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->state(), wire::JOB_FAILED);
  EXPECT_EQ(client().GetStatus().proofs_refused(), 3u);
  EXPECT_FALSE(client().GetResult(ack->job(), 0).ok());
}

TEST_F(StackTest, ClientsMayVanishAtAnyPoint) {
  StartCoordinator();
  ASSERT_TRUE(client().AddCircuit().ok());
  uint64_t abandoned = 0;
  {
    Client other(run_dir());
    const auto ticket = other.Begin("mult", 2);
    ASSERT_TRUE(ticket.ok());
    abandoned = ticket->job();
    ASSERT_TRUE(other.WriteSpool(ticket->job(), 0, 'x').ok());
  }
  const auto ack = client().Submit("mult", {'a'});
  {
    Client other(run_dir());
    wire::Request wait;
    wait.set_request_id(1);
    wait.mutable_wait_job()->set_job_name(ack->job_name());
    wait.mutable_wait_job()->set_timeout_ms(30'000);
    other.Send(wait);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  StartWorkers();
  ASSERT_TRUE(client().Wait(ack->job_name()).ok());
  // What was never committed is no job.
  EXPECT_EQ(client().Wait("j" + std::to_string(abandoned), 1000).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(client().GetStatus().jobs().accepted(), 1u);
}

TEST_F(StackTest, CommitNeedsEveryInputAndIsIdempotent) {
  StartCoordinator();
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ticket = client().Begin("mult", 2);
  ASSERT_TRUE(client().WriteSpool(ticket->job(), 0, 'x').ok());
  EXPECT_EQ(client().Commit(ticket->job(), "").status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(client().WriteSpool(ticket->job(), 2, 'x').code(), ErrorCode::kInvalidArgument);
  ASSERT_TRUE(client().WriteSpool(ticket->job(), 1, 'y').ok());
  ASSERT_TRUE(client().Commit(ticket->job(), "").ok());
  EXPECT_TRUE(client().Commit(ticket->job(), "").ok()) << "an acknowledgement may be lost";
  EXPECT_EQ(client().GetStatus().jobs().accepted(), 1u);
  EXPECT_EQ(client().WriteSpool(ticket->job(), 0, 'z').code(), ErrorCode::kNotFound);
  EXPECT_EQ(client().Commit(ticket->job() + 1, "").status().code(), ErrorCode::kNotFound);
}

TEST_F(StackTest, CircuitsAreCheckedAndKept) {
  StartCoordinator();
  ASSERT_TRUE(client().AddCircuit("a").ok());
  EXPECT_TRUE(client().AddCircuit("a").ok()) << "the same again is fine";
  EXPECT_EQ(client().AddCircuit("a", 5).code(), ErrorCode::kConflict);
  EXPECT_EQ(client().AddCircuit("../x").code(), ErrorCode::kInvalidArgument);
  const Status large = client().AddCircuit("large", 20);
  EXPECT_EQ(large.code(), ErrorCode::kResource);
  EXPECT_NE(large.error().fact.find("1048576"), std::string::npos) << large.ToString();
  const auto ack = client().Submit("a", {'x'});
  ASSERT_TRUE(ack.ok());
  wire::Request remove;
  remove.mutable_circuit_remove()->set_name("a");
  EXPECT_EQ(client().Call(remove).status().code(), ErrorCode::kConflict);
  StartWorkers();
  ASSERT_TRUE(client().Wait(ack->job_name()).ok());
  EXPECT_TRUE(client().Call(remove).ok());
  EXPECT_EQ(client().Call(remove).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(client().Submit("a", {'x'}).status().code(), ErrorCode::kNotFound);
}

TEST_F(StackTest, ManyCircuitsComeInPages) {
  StartCoordinator();
  for (int i = 0; i < 70; ++i) ASSERT_TRUE(client().AddCircuit("c" + std::to_string(i)).ok());
  std::set<std::string> names;
  uint32_t pages = 1;
  for (uint32_t page = 0; page < pages; ++page) {
    wire::Request list;
    list.mutable_circuit_list()->set_page(page);
    const auto reply = client().Call(list);
    ASSERT_TRUE(reply.ok());
    pages = reply->circuits().page_count();
    for (const auto& circuit : reply->circuits().circuits()) names.insert(circuit.name());
  }
  EXPECT_EQ(pages, 2u);
  EXPECT_EQ(names.size(), 70u);
}

TEST_F(StackTest, CancelAndDeadline) {
  StartCoordinator();
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto queued = client().Submit("mult", {'a', 'b'});
  wire::Request cancel;
  cancel.mutable_cancel_job()->set_job_name(queued->job_name());
  ASSERT_TRUE(client().Call(cancel).ok());
  EXPECT_EQ(client().Wait(queued->job_name())->state(), wire::JOB_CANCELLED);
  const auto late = client().Submit("mult", {'c'}, "", wire::PRIORITY_NORMAL, 200);
  const auto view = client().Wait(late->job_name());
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->state(), wire::JOB_FAILED);
  EXPECT_EQ(view->partitions(0).error().code(), static_cast<uint32_t>(ErrorCode::kTimeout));
  StartWorkers("slow:300");
  const auto running = client().Submit("mult", {'d'});
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  cancel.mutable_cancel_job()->set_job_name(running->job_name());
  ASSERT_TRUE(client().Call(cancel).ok());
  EXPECT_EQ(client().Wait(running->job_name())->state(), wire::JOB_CANCELLED);
  EXPECT_FALSE(client().GetResult(running->job(), 0).ok());
  ExpectAllFree();
  ExpectBalance();
}

TEST_F(StackTest, APrivateStackReadsTheClientsDescriptors) {
  StartCoordinator({"--private", "16,1,4"});
  StartWorkers();
  ASSERT_TRUE(client().AddCircuit().ok());
  EXPECT_EQ(client().Begin("mult", 1).status().code(), ErrorCode::kUnsupported);
  const auto ticket = client().Begin("mult", 1, "", true);
  ASSERT_TRUE(ticket.ok()) << ticket.status().ToString();
  wire::PutInput put;
  put.set_job(ticket->job());
  put.set_direct(true);
  const auto give = [&](int fd) {
    const auto answer = client().Ask([&](wire::BrokerConnection& c) { return c.SendMessage(put, 0, std::span<const int>(&fd, 1)); });
    return answer.ok() ? OkStatus() : answer.status();
  };
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  EXPECT_EQ(give(pipe_ends[0]).code(), ErrorCode::kInvalidArgument) << "a pipe could hold up a worker for ever";
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  const std::string path = dir_.path() + "/input";
  std::ofstream(path) << "secret";
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(give(file.get()).ok());
  const auto ack = client().Commit(ticket->job(), "");
  ASSERT_TRUE(ack.ok()) << ack.status().ToString();
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok()) << CoordinatorLog();
  EXPECT_EQ(view->state(), wire::JOB_DONE);
  ExpectResult(client(), ack->job(), 0, 's');
  EXPECT_FALSE(std::filesystem::exists(dir_.path() + "/journal.sqlite3"));
  EXPECT_FALSE(std::filesystem::exists(dir_.path() + "/spool"));
}

TEST_F(StackTest, CriticalWorkOvertakes) {
  StartCoordinator({"--slot-count", "3"});
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto low = client().Submit("mult", std::vector<char>(8, 'l'), "", wire::PRIORITY_LOW);
  const auto critical = client().Submit("mult", {'c'}, "", wire::PRIORITY_CRITICAL);
  StartWorkers("slow:20", "slow:20");
  const auto view = client().Wait(critical->job_name());
  ASSERT_TRUE(view.ok());
  wire::Request status;
  status.mutable_status()->set_job_name(low->job_name());
  EXPECT_LT(client().Call(status)->job().state(), wire::JOB_DONE);
  EXPECT_EQ(client().Wait(low->job_name())->state(), wire::JOB_DONE);
}

// ---- hostile bytes ----

UniqueFd RawConnection(const std::string& path, int type) {
  UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  return connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 ? std::move(fd) : UniqueFd();
}

TEST_F(StackTest, GarbageOnTheSocketsDisturbsNobody) {
  StartCoordinator();
  StartWorkers();
  ASSERT_TRUE(client().AddCircuit().ok());
  std::mt19937 rng(7);
  const auto noise = [&](size_t n) {
    std::string bytes(n, '\0');
    for (char& c : bytes) c = static_cast<char>(rng());
    return bytes;
  };
  for (int i = 0; i < 60; ++i) {
    for (const char* name : {"/work.sock", "/front.sock"}) {
      const UniqueFd raw = RawConnection(run_dir() + name, SOCK_STREAM);
      const std::string bytes = noise(1 + rng() % 300);
      (void)!write(raw.get(), bytes.data(), bytes.size());
    }
    const UniqueFd broker = RawConnection(run_dir() + "/broker.sock", SOCK_SEQPACKET);
    const std::string bytes = noise(1 + rng() % 300);
    (void)!send(broker.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // Well-formed frames of every type with bodies that are none, or of another message, on both sockets.
  wire::Context context;
  for (const char* name : {"/work.sock", "/front.sock"}) {
    auto socket = wire::DealerSocket::Connect(context, run_dir() + name, "");
    for (uint16_t type = 0; type < 80; ++type) {
      for (int k = 0; k < 4; ++k) {
        const wire::Frame frame{static_cast<wire::MessageType>(type), rng(), noise(rng() % 200)};
        for (int tries = 0; tries < 500 && !socket->Send(frame).ok(); ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }
  for (uint16_t type = 0; type < 80; ++type) {
    auto connection = wire::BrokerConnection::Connect(run_dir() + "/broker.sock", 1000);
    if (connection.ok()) (void)connection->Send({static_cast<wire::MessageType>(type), 0, noise(50)});
  }
  const auto ack = client().Submit("mult", {'a'});
  ASSERT_TRUE(ack.ok()) << ack.status().ToString() << CoordinatorLog();
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok()) << CoordinatorLog();
  EXPECT_EQ(view->state(), wire::JOB_DONE);
  EXPECT_TRUE(coordinator_.Runs());
}

TEST_F(StackTest, MessagesThatLieAboutSlotsAreIgnored) {
  StartCoordinator();
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto ack = client().Submit("mult", {'a'});
  wire::Context context;
  auto liar = wire::DealerSocket::Connect(context, run_dir() + "/work.sock", "synth-0-1");
  const auto say = [&](const auto& message) {
    for (int tries = 0; tries < 500 && !liar->SendMessage(message, 1).ok(); ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  for (uint32_t slot : {0u, 1u, 4095u, ~0u}) {
    wire::Done done;
    done.set_slot(slot);
    done.set_job(ack->job());
    done.set_attempt(1);
    say(done);
    wire::Failed failed;
    failed.set_slot(slot);
    say(failed);
    wire::Heartbeat beat;
    beat.set_instance(1);
    beat.add_held()->set_slot(slot);
    say(beat);
  }
  wire::Hello hello;
  hello.set_role(wire::ROLE_GPU);
  hello.set_instance(1);
  say(hello);
  StartWorkers();
  const auto view = client().Wait(ack->job_name());
  ASSERT_TRUE(view.ok()) << CoordinatorLog();
  EXPECT_EQ(view->state(), wire::JOB_DONE);
}

TEST_F(StackTest, AnAttachWithSomebodyElsesPidfdIsRefused) {
  StartCoordinator();
  Process victim = StartWorker("synth");
  auto connection = wire::BrokerConnection::Connect(run_dir() + "/broker.sock", 5000);
  wire::Hello hello;
  hello.set_role(wire::ROLE_SYNTH);
  hello.set_pid(victim.pid());
  const UniqueFd other(static_cast<int>(syscall(SYS_pidfd_open, victim.pid(), 0)));
  EXPECT_EQ(wire::AttachToBroker(*connection, hello, other.get()).status().code(), ErrorCode::kInvalidArgument);
  const UniqueFd not_a_pidfd(open("/dev/null", O_RDONLY));
  hello.set_pid(getpid());
  auto second = wire::BrokerConnection::Connect(run_dir() + "/broker.sock", 5000);
  EXPECT_EQ(wire::AttachToBroker(*second, hello, not_a_pidfd.get()).status().code(), ErrorCode::kInvalidArgument);
}

// ---- starting ----

TEST_F(StackTest, ASecondCoordinatorIsRefusedAndToldWhoHoldsIt) {
  StartCoordinator();
  const std::string log = dir_.path() + "/second.log";
  Process second = Process::Start({COORDINATOR_PROGRAM, "--state", dir_.path()}, {}, {}, log);
  EXPECT_EQ(second.WaitForEnd(10'000), 64);
  std::ifstream in(log);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_NE(text.find("process " + std::to_string(coordinator_.pid())), std::string::npos) << text;
}

TEST_F(StackTest, ADamagedJournalIsRefused) {
  StartCoordinator();
  coordinator_.Signal(SIGTERM);
  EXPECT_EQ(coordinator_.WaitForEnd(10'000), 0);
  std::ofstream(dir_.path() + "/journal.sqlite3") << std::string(8192, 'x');
  Process again = Process::Start({COORDINATOR_PROGRAM, "--state", dir_.path()}, {}, {}, dir_.path() + "/log");
  EXPECT_EQ(again.WaitForEnd(10'000), 64);
  EXPECT_NE(CoordinatorLog().find("is damaged"), std::string::npos);
}

TEST_F(StackTest, WrongOptionsAreExplained) {
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--slot-count", "0"}, {"--slot-count"}, {"--bogus"}, {"--private", "1,2"}, {"--slot-bytes", "many"}, {"--config", "/no/such"}, {"--synth", "1", "--synth", "2"},
           {"--slot-bytes", "4096", "--result-bytes", "4096"}}) {
    std::vector<std::string> argv{COORDINATOR_PROGRAM, "--state", dir_.path()};
    argv.insert(argv.end(), options.begin(), options.end());
    Process process = Process::Start(argv, {}, {}, dir_.path() + "/log");
    const auto code = process.WaitForEnd(10'000);
    ASSERT_TRUE(code.has_value()) << options[0];
    EXPECT_NE(*code, 0) << options[0];
  }
}

TEST_F(StackTest, InputsOfJobsThatNeverWereAreSweptAtTheStart) {
  StartCoordinator();
  ASSERT_TRUE(client().AddCircuit().ok());
  const auto kept = client().Submit("mult", {'k'});
  const auto dropped = client().Begin("mult", 1);
  ASSERT_TRUE(client().WriteSpool(dropped->job(), 0, 'd').ok());
  coordinator_.Kill();
  RestartCoordinator();
  const std::string spool = dir_.path() + "/spool/";
  for (int i = 0; i < 200 && std::filesystem::exists(spool + std::to_string(dropped->job())); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(std::filesystem::exists(spool + std::to_string(dropped->job())));
  EXPECT_TRUE(std::filesystem::exists(spool + std::to_string(kept->job())));
  struct stat info {};
  ASSERT_EQ(stat((spool + std::to_string(kept->job()) + "/0").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(client().Commit(dropped->job(), "").status().code(), ErrorCode::kNotFound) << "its number is not another's";
  StartWorkers();
  EXPECT_EQ(client().Wait(kept->job_name())->state(), wire::JOB_DONE);
}

}  // namespace
}  // namespace proofline::coordinator
