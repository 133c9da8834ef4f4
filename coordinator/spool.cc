#include "coordinator/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "core/base/log.h"
#include "core/base/text.h"

namespace proofline::coordinator {

namespace {

Status SystemError(const std::string& fact) {
  const int code = errno;
  return Status(code == ENOSPC || code == EMFILE || code == ENFILE || code == EDQUOT ? ErrorCode::kResource : ErrorCode::kIo, fact, std::strerror(code),
                code == ENOSPC ? "free space on the file system of the state directory" : "");
}

Status SyncDirectory(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || fsync(fd.get()) != 0) return SystemError("the directory " + path + " cannot be synced");
  return OkStatus();
}

std::vector<std::string> Entries(const std::string& path) {
  std::vector<std::string> names;
  DIR* dir = opendir(path.c_str());
  if (!dir) return names;
  while (const dirent* entry = readdir(dir)) {
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  }
  closedir(dir);
  return names;
}

// Blocks that were allocated get zeros; holes stay.
void WipeFile(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (fd && fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode)) {
    static constexpr size_t kChunk = size_t{1} << 20;
    const std::vector<char> zeros(std::min<size_t>(kChunk, static_cast<size_t>(info.st_size)));
    for (off_t at = 0; at < info.st_size;) {
      const size_t n = std::min<size_t>(zeros.size(), static_cast<size_t>(info.st_size - at));
      const ssize_t written = pwrite(fd.get(), zeros.data(), n, at);
      if (written <= 0) break;
      at += written;
    }
    fdatasync(fd.get());
  }
  unlink(path.c_str());
}

void WipeDirectory(const std::string& path) {
  for (const std::string& name : Entries(path)) WipeFile(path + "/" + name);
  if (rmdir(path.c_str()) != 0 && errno != ENOENT) LogWarn("a spool directory stays", {{"path", path}, {"errno", std::strerror(errno)}});
}

}  // namespace

Result<std::unique_ptr<Spool>> Spool::Open(const std::string& dir) {
  if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) return SystemError("the spool directory " + dir + " cannot be made");
  return std::unique_ptr<Spool>(new Spool(dir));
}

Spool::~Spool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (wiper_.joinable()) wiper_.join();
}

std::string Spool::JobDir(uint64_t job) const { return StrCat(dir_, "/", job); }

Result<UniqueFd> Spool::OpenForWriting(uint64_t job, uint32_t partition) {
  const std::string dir = JobDir(job);
  if (mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST) return SystemError("the spool directory " + dir + " cannot be made");
  const std::string path = StrCat(dir, "/", partition);
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return SystemError("the spool file " + path + " cannot be made");
  return fd;
}

Result<UniqueFd> Spool::OpenForReading(uint64_t job, uint32_t partition) const {
  const std::string path = StrCat(JobDir(job), "/", partition);
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT) return Status(ErrorCode::kNotFound, "the input " + path + " is missing", {}, "submit the job again");
  if (!fd) return SystemError("the input " + path + " cannot be read");
  return fd;
}

Status Spool::Sync(uint64_t job, uint32_t count) const {
  for (uint32_t i = 0; i < count; ++i) {
    // The bytes were synced by the client; here only the names are.
    PL_ASSIGN_OR_RETURN(const UniqueFd fd, OpenForReading(job, i));
  }
  PL_RETURN_IF_ERROR(SyncDirectory(JobDir(job)));
  return SyncDirectory(dir_);
}

void Spool::Discard(uint64_t job) {
  {
    std::lock_guard lock(mutex_);
    doomed_.push_back(JobDir(job));
  }
  if (!wiper_.joinable()) wiper_ = std::thread(&Spool::WipeQueued, this);
  changed_.notify_all();
}

void Spool::DiscardOrphans(const std::function<bool(uint64_t)>& keep) {
  for (const std::string& name : Entries(dir_)) {
    uint64_t job = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), job);
    if (error != std::errc() || end != name.data() + name.size() || keep(job)) continue;
    Discard(job);
  }
}

void Spool::WipeQueued() {
  prctl(PR_SET_NAME, "spool-wiper");
  // Signals are the main thread's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !doomed_.empty(); });
    if (stop_) return;
    const std::string path = std::move(doomed_.front());
    doomed_.pop_front();
    lock.unlock();
    WipeDirectory(path);
    lock.lock();
  }
}

}  // namespace proofline::coordinator
