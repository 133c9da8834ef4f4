#include "coordinator/sqlite_job_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "job_store_conformance.h"

namespace proofline::coordinator {
namespace {

class TempDir {
 public:
  TempDir() {
    char name[] = "/tmp/proofline-journal-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class SqliteJournal : public JournalUnderTest {
 public:
  Result<std::unique_ptr<JobStore>> Open() override { return OpenSqliteJobStore(dir_.path() + "/journal.sqlite3"); }

 private:
  TempDir dir_;
};
std::unique_ptr<JournalUnderTest> NewSqliteJournal() { return std::make_unique<SqliteJournal>(); }

INSTANTIATE_TEST_SUITE_P(Sqlite, JobStoreConformance, testing::Values(&NewSqliteJournal));

class SqliteJobStoreTest : public testing::Test {
 protected:
  std::string file() const { return dir_.path() + "/journal.sqlite3"; }
  TempDir dir_;
};

TEST_F(SqliteJobStoreTest, MemoryJournalWorks) {
  auto store = OpenMemoryJobStore();
  ASSERT_TRUE(store.ok());
  EXPECT_EQ((*store)->term(), 1u);
  EXPECT_TRUE((*store)->Apply({AcceptJob{MakeJob(1, 1)}}).ok());
  EXPECT_EQ((*store)->LoadLiveJobs()->size(), 1u);
}

TEST_F(SqliteJobStoreTest, TheFileIsPrivate) {
  ASSERT_TRUE(OpenSqliteJobStore(file()).ok());
  EXPECT_EQ(std::filesystem::status(file()).permissions(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(SqliteJobStoreTest, ASecondProcessIsRefused) {
  auto store = OpenSqliteJobStore(file());
  ASSERT_TRUE(store.ok());
  const pid_t child = fork();
  if (child == 0) {
    auto second = OpenSqliteJobStore(file());
    _exit(second.ok() ? 0 : static_cast<int>(second.status().code()));
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ErrorCode::kConflict));
}

// What Apply has answered survives kill -9, again and again; the parent reads back at least what the child reported.
TEST_F(SqliteJobStoreTest, AcknowledgedWritesSurviveKill9) {
  uint64_t next = 1;
  for (int round = 0; round < 8; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto store = OpenSqliteJobStore(file());
      if (!store.ok()) _exit(1);
      for (uint64_t id = next;; ++id) {
        if (!(*store)->Apply({AcceptJob{MakeJob(id, 2)}}).ok()) _exit(2);
        if (!(*store)->Apply({BeginAttempt{id, 1, 1}}).ok()) _exit(2);
        if (write(pipe_ends[1], &id, sizeof(id)) != sizeof(id)) _exit(3);
      }
    }
    close(pipe_ends[1]);
    uint64_t acknowledged = 0;
    for (int i = 0; i < 3 + round; ++i) ASSERT_EQ(read(pipe_ends[0], &acknowledged, sizeof(acknowledged)), ssize_t{sizeof(acknowledged)});
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (uint64_t id = 0; read(pipe_ends[0], &id, sizeof(id)) == ssize_t{sizeof(id)};) acknowledged = id;
    close(pipe_ends[0]);
    auto store = OpenSqliteJobStore(file());
    ASSERT_TRUE(store.ok()) << store.status().ToString();
    const auto live = (*store)->LoadLiveJobs();
    ASSERT_TRUE(live.ok());
    // One more may have been committed and not acknowledged.
    ASSERT_GE(live->size(), acknowledged);
    ASSERT_LE(live->size(), acknowledged + 1);
    for (const LoadedJob& job : *live) {
      // The next round expects an attempt of every job.
      if (job.job.id > acknowledged && job.parts[1].attempt == 0) {
        ASSERT_TRUE((*store)->Apply({BeginAttempt{job.job.id, 1, 1}}).ok());
      } else {
        ASSERT_EQ(job.parts[1].attempt, 1u) << "job " << job.job.id;
      }
    }
    next = live->size() + 1;
  }
}

// A limit of the file's size stands for a full disk.
TEST_F(SqliteJobStoreTest, AFullDiskChangesNothingAndPasses) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    auto store = OpenSqliteJobStore(file());
    if (!store.ok() || !(*store)->Apply({AcceptJob{MakeJob(1, 1)}}).ok()) _exit(1);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{100'000, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    Status refused;
    uint64_t id = 2;
    for (; refused.ok() && id < 1000; ++id) refused = (*store)->Apply({AcceptJob{MakeJob(id, 200)}});
    if (refused.code() != ErrorCode::kIo && refused.code() != ErrorCode::kResource) _exit(2);
    const uint64_t failed = id - 1;
    if ((*store)->FindJob(failed)->has_value()) _exit(3);
    setrlimit(RLIMIT_FSIZE, &limit);
    if (!(*store)->Apply({AcceptJob{MakeJob(failed, 200)}}).ok()) _exit(4);
    if ((*store)->LoadLiveJobs()->size() != failed) _exit(5);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

void Overwrite(const std::string& path, off_t at, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(at);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TEST_F(SqliteJobStoreTest, DamageIsRefusedAndNeverEmptied) {
  {
    auto store = OpenSqliteJobStore(file());
    for (uint64_t id = 1; id <= 200; ++id) ASSERT_TRUE((*store)->Apply({AcceptJob{MakeJob(id, 4)}}).ok());
  }
  const std::string good = [&] {
    std::ifstream in(file(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  const auto restore = [&] { std::ofstream(file(), std::ios::binary | std::ios::trunc) << good; };
  const auto refused = [&](const char* what) {
    auto opened = OpenSqliteJobStore(file());
    ASSERT_FALSE(opened.ok()) << what;
    EXPECT_EQ(opened.status().code(), ErrorCode::kInvalidFile) << what << ": " << opened.status().ToString();
    EXPECT_FALSE(opened.status().error().remedy.empty()) << what;
  };
  Overwrite(file(), 0, "this is not a database file....");
  refused("header");
  restore();
  std::filesystem::resize_file(file(), 0);
  refused("empty");
  EXPECT_EQ(std::filesystem::file_size(file()), 0u);
  restore();
  std::filesystem::resize_file(file(), good.size() / 2);
  refused("truncated");
  restore();
  Overwrite(file(), 4096, std::string(8192, '\xa5'));
  refused("two pages of garbage");
  std::filesystem::remove(file());
  std::ofstream(file() + "-wal") << "left over";
  refused("only the log is left");
  std::filesystem::remove(file() + "-wal");
  restore();
  EXPECT_TRUE(OpenSqliteJobStore(file()).ok());
}

TEST_F(SqliteJobStoreTest, AnotherProgramsDatabaseIsRefused) {
  {
    auto store = OpenSqliteJobStore(file());
    ASSERT_TRUE(store.ok());
  }
  Overwrite(file(), 68, "ABCD");  // the application id in SQLite's header
  EXPECT_EQ(OpenSqliteJobStore(file()).status().code(), ErrorCode::kInvalidFile);
}

TEST_F(SqliteJobStoreTest, ADirectoryThatIsNotThereIsAnError) {
  EXPECT_EQ(OpenSqliteJobStore(dir_.path() + "/no/journal.sqlite3").status().code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace proofline::coordinator
