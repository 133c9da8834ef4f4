#include "core/base/file.h"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace proofline {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    std::string pattern = (fs::temp_directory_path() / "proofline-file-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string Make(const std::string& name, const std::string& content) const {
    std::ofstream(Path(name), std::ios::binary) << content;
    return Path(name);
  }
  static std::string Content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  size_t FileCount() const { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())); }
  std::string folder_;
};

std::string Text(const MappedFile& file) { return std::string(file.bytes().begin(), file.bytes().end()); }

TEST_F(FileTest, RegularFileIsMapped) {
  auto file = MappedFile::Open(Make("a", "hello"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(Text(*file), "hello");
  EXPECT_TRUE(file->is_mapped_file());
  MappedFile moved = *std::move(file);
  EXPECT_EQ(Text(moved), "hello");
  EXPECT_TRUE(moved.CheckUnchanged().ok());
  moved.DropPages(moved.bytes());
  moved.WillNeed(moved.bytes());
  moved.Sequential(moved.bytes());
  EXPECT_EQ(Text(moved), "hello");
}

TEST_F(FileTest, EmptyFile) {
  auto file = MappedFile::Open(Make("a", ""));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size_bytes(), 0u);
  EXPECT_TRUE(file->CopyOut(0, {}).ok());
}

TEST_F(FileTest, PipeIsReadToItsEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string content(3 << 20, 'x');  // more than the first buffer
  content += "end";
  std::thread writer([&] {
    for (size_t at = 0; at < content.size();) {
      ssize_t n = write(ends[1], content.data() + at, content.size() - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    close(ends[1]);
  });
  auto file = MappedFile::FromDescriptor(ends[0], "pipe", {.secret = true});
  writer.join();
  close(ends[0]);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(Text(*file), content);
  EXPECT_FALSE(file->is_mapped_file());
  file->DropPages(file->bytes());
  uint8_t last[3];
  ASSERT_TRUE(file->CopyOut(content.size() - 3, last).ok());
  EXPECT_EQ(std::string(last, last + 3), "end");
}

TEST_F(FileTest, StreamHasALimit) {
  auto file = MappedFile::Open("/dev/zero", {.stream_limit = [](ByteSpan, const std::string&) -> Result<uint64_t> { return uint64_t{3} << 20; }});
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.status().code(), ErrorCode::kInvalidFile);
  EXPECT_NE(file.status().error().fact.find("3145728"), std::string::npos);
}

// A pipe that has `content` and stays open, so that only a reader that stops by itself ends.
struct OpenPipe {
  explicit OpenPipe(const std::string& content) {
    EXPECT_EQ(pipe(ends), 0);
    EXPECT_EQ(write(ends[1], content.data(), content.size()), static_cast<ssize_t>(content.size()));
  }
  ~OpenPipe() {
    close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
  }
  int ends[2];
};

TEST_F(FileTest, StreamIsJudgedByItsFirstBytes) {
  std::string seen;
  const auto refuse = [&](ByteSpan start, const std::string& name) -> Result<uint64_t> {
    seen.assign(start.begin(), start.end());
    return Status(ErrorCode::kInvalidFile, name + ": not that");
  };
  OpenPipe pipe("0123456789abcdef");
  auto file = MappedFile::FromDescriptor(pipe.ends[0], "pipe", {.stream_limit = refuse});
  EXPECT_EQ(file.status().error().fact, "pipe: not that");
  EXPECT_EQ(seen, "0123456789ab");
  OpenPipe little("01");
  close(std::exchange(little.ends[1], -1));
  EXPECT_FALSE(MappedFile::FromDescriptor(little.ends[0], "pipe", {.stream_limit = refuse}).ok());
  EXPECT_EQ(seen, "01");
}

TEST_F(FileTest, InterruptEndsTheReading) {
  OpenPipe interrupt(""), input("abc");
  std::thread later([&] {
    usleep(50000);
    EXPECT_EQ(write(interrupt.ends[1], "x", 1), 1);
  });
  auto file = MappedFile::FromDescriptor(input.ends[0], "pipe", {.interrupt_fd = interrupt.ends[0]});
  later.join();
  EXPECT_EQ(file.status().code(), ErrorCode::kCancelled);
  EXPECT_EQ(MappedFile::Open("/dev/zero", {.interrupt_fd = interrupt.ends[0]}).status().code(), ErrorCode::kCancelled);
}

TEST_F(FileTest, InterruptEndsTheWaitForAWriter) {
  struct sigaction action {}, before {};
  action.sa_handler = [](int) {};  // no SA_RESTART, as the programs' handlers
  sigaction(SIGUSR1, &action, &before);
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  OpenPipe interrupt("");
  const pthread_t reader = pthread_self();
  std::atomic<bool> done{false};
  std::thread later([&] {
    usleep(50000);
    EXPECT_EQ(write(interrupt.ends[1], "x", 1), 1);
    for (; !done; usleep(1000)) pthread_kill(reader, SIGUSR1);
  });
  auto file = MappedFile::Open(Path("fifo"), {.interrupt_fd = interrupt.ends[0]});
  done = true;
  later.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(file.status().code(), ErrorCode::kCancelled);
}

TEST_F(FileTest, ProcFilesAreRead) {
  auto file = MappedFile::Open("/proc/self/status");
  ASSERT_TRUE(file.ok());
  EXPECT_NE(Text(*file).find("Name:"), std::string::npos);
}

TEST_F(FileTest, MemfdIsMappedFromItsStart) {
  int fd = memfd_create("test", MFD_CLOEXEC);
  ASSERT_EQ(write(fd, "abc", 3), 3);
  auto file = MappedFile::FromDescriptor(fd, "memfd", {});
  close(fd);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(Text(*file), "abc");
}

TEST_F(FileTest, FailuresAreTheInputsFault) {
  EXPECT_EQ(MappedFile::Open(Path("none")).status().code(), ErrorCode::kNotFound);
  EXPECT_EQ(MappedFile::Open(folder_).status().code(), ErrorCode::kInvalidFile);
  EXPECT_EQ(MappedFile::Open(Path("none")).status().error().fact, Path("none") + ": no such file");
  EXPECT_EQ(ExitCodeFor(MappedFile::Open(Make("file", "") + "/x").status().code()), 1);
}

TEST_F(FileTest, ShrunkFileIsAnErrorAndNoSignal) {
  std::string path = Make("a", std::string(20000, 'x'));
  auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok());
  fs::resize_file(path, 100);
  std::vector<uint8_t> out(20000);
  Status status = file->CopyOut(0, out);
  EXPECT_EQ(status.code(), ErrorCode::kInvalidFile);
  EXPECT_NE(status.error().fact.find("shorter"), std::string::npos);
  EXPECT_EQ(file->CheckUnchanged().code(), ErrorCode::kInvalidFile);
}

TEST_F(FileTest, GuardedFileIsReadAsZerosWhereItWasCut) {
  std::string path = Make("a", std::string(40000, 'x')), other = Make("b", std::string(40000, 'y'));
  auto opened = MappedFile::Open(path, {.guarded = true}), kept = MappedFile::Open(other, {.guarded = true});
  ASSERT_TRUE(opened.ok() && kept.ok());
  MappedFile file = *std::move(opened);  // the guard moves along
  fs::resize_file(path, 100);
  EXPECT_EQ(file.bytes()[99], 'x');
  EXPECT_EQ(file.bytes()[20000], 0);
  EXPECT_EQ(file.bytes()[4096], 0);
  EXPECT_EQ(file.bytes()[39999], 0);
  EXPECT_EQ(file.CheckUnchanged().error().fact, path + ": became shorter while it was read");
  EXPECT_EQ(file.ChangeOr(Status(ErrorCode::kInvalidFile, "other")).error().fact, path + ": became shorter while it was read");
  EXPECT_EQ(Text(*kept), std::string(40000, 'y'));
  EXPECT_TRUE(kept->CheckUnchanged().ok());
  EXPECT_EQ(kept->ChangeOr(Status(ErrorCode::kInvalidFile, "other")).error().fact, "other");
}

TEST_F(FileTest, WhatWasReadAsZerosIsToldAlthoughTheFileLooksTheSame) {
  std::string path = Make("a", std::string(40000, 'x'));
  auto file = MappedFile::Open(path, {.guarded = true});
  ASSERT_TRUE(file.ok());
  struct stat before;
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  fs::resize_file(path, 100);
  EXPECT_EQ(file->bytes()[20000], 0);
  fs::resize_file(path, 40000);
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_EQ(file->CheckUnchanged().code(), ErrorCode::kIo);
}

TEST_F(FileTest, BusErrorElsewhereStillEndsTheProcess) {
  std::string path = Make("a", std::string(40000, 'x'));
  auto guarded = MappedFile::Open(path, {.guarded = true}), plain = MappedFile::Open(path);
  ASSERT_TRUE(guarded.ok() && plain.ok());
  fs::resize_file(path, 100);
  const auto last = [](const MappedFile& file) { return *static_cast<const volatile uint8_t*>(&file.bytes()[39999]); };
  EXPECT_EXIT(_exit(last(*plain)), ::testing::KilledBySignal(SIGBUS), "");
  EXPECT_EQ(last(*guarded), 0);
}

TEST_F(FileTest, CopyOutChecksItsRange) {
  auto file = MappedFile::Open(Make("a", "hello"));
  ASSERT_TRUE(file.ok());
  uint8_t out[4];
  EXPECT_TRUE(file->CopyOut(1, out).ok());
  EXPECT_EQ(std::string(out, out + 4), "ello");
  EXPECT_FALSE(file->CopyOut(2, out).ok());
  EXPECT_FALSE(file->CopyOut(~uint64_t{0} - 1, out).ok());
}

TEST_F(FileTest, WriterReplacesOnCommitOnly) {
  std::string path = Make("out", "old");
  {
    auto writer = AtomicFileWriter::Create(path);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Write("new").ok());
    EXPECT_EQ(Content(path), "old");
    EXPECT_EQ(FileCount(), 2u);
  }
  EXPECT_EQ(Content(path), "old");
  EXPECT_EQ(FileCount(), 1u);
  for (bool sync : {false, true}) {
    auto writer = AtomicFileWriter::Create(path, {.sync = sync});
    ASSERT_TRUE(writer.ok());
    std::string large(3 << 20, 'y');
    ASSERT_TRUE(writer->Write("a").ok());
    ASSERT_TRUE(writer->Write(large).ok());
    ASSERT_TRUE(writer->Write("z").ok());
    EXPECT_EQ(writer->written_bytes(), large.size() + 2);
    ASSERT_TRUE(writer->Commit().ok());
    EXPECT_EQ(Content(path), "a" + large + "z");
    EXPECT_EQ(FileCount(), 1u);
  }
}

TEST_F(FileTest, WriterKeepsSecretsPrivate) {
  mode_t before = umask(0);
  ASSERT_TRUE(WriteFileAtomically(Path("secret"), "x", {.secret = true}).ok());
  ASSERT_TRUE(WriteFileAtomically(Path("open"), "x").ok());
  umask(before);
  EXPECT_EQ(fs::status(Path("secret")).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(Path("open")).permissions(), fs::perms(0666));
}

TEST_F(FileTest, WriterFollowsLinksAndWritesDevicesDirectly) {
  std::string target = Make("target", "old");
  fs::create_symlink(target, Path("link"));
  ASSERT_TRUE(WriteFileAtomically(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(Content(target), "new");
  ASSERT_TRUE(WriteFileAtomically("/dev/null", "x").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, WriterTakesTheLongestName) {
  std::string name(255, 'n');
  ASSERT_TRUE(WriteFileAtomically(Path(name), "x").ok());
  EXPECT_EQ(Content(Path(name)), "x");
}

TEST_F(FileTest, UnwritableOutputIsSaidAtOnce) {
  for (const std::string& path : {Path("no/such/folder"), folder_, Make("file", "") + "/x", Path(std::string(300, 'n')), Path("new/"), std::string()}) {
    auto writer = AtomicFileWriter::Create(path);
    ASSERT_FALSE(writer.ok()) << path;
    EXPECT_EQ(ExitCodeFor(writer.status().code()), 1) << writer.status().ToString();
    EXPECT_TRUE(path.empty() || writer.status().error().fact.find(path) != std::string::npos);
  }
  EXPECT_EQ(FileCount(), 1u);
}

TEST_F(FileTest, FullDiskIsTheSystemsFaultAndLeavesNothing) {
  auto writer = AtomicFileWriter::Create("/dev/full");
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Write("x").ok());
  Status status = writer->Commit();
  EXPECT_EQ(status.code(), ErrorCode::kResource);
  EXPECT_TRUE(status.retryable());
}

}  // namespace
}  // namespace proofline
