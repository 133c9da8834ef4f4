// fake_child STEP...: each argument is a step, done in order. Uses libsystemd, as the real programs do.
//   ready              READY=1
//   exit N, kill N     end with an exit code, or by a signal
//   once FILE          if FILE exists, skip the next two steps; else make it
//   say TEXT           one line to stderr
//   note FILE          appends "pid LISTEN_FDNAMES" (empty without) to FILE
//   store NAME TEXT    a memfd with TEXT into the descriptor store, then a barrier
//   unstore NAME       FDSTOREREMOVE=1
//   dump NAME FILE     appends the content of the stored descriptor NAME to FILE
//   ping               WATCHDOG=1 for ever, at half the interval
//   sleep              for ever; ends at SIGTERM
//   stubborn           for ever; ignores SIGTERM
//   spawn FILE         a grandchild that sleeps; its pid into FILE
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

namespace {

void Append(const char* path, const std::string& text) {
  if (FILE* f = std::fopen(path, "a")) {
    std::fwrite(text.data(), 1, text.size(), f);
    std::fclose(f);
  }
}

std::string JoinedNames() {
  char** names = nullptr;
  const int n = sd_listen_fds_with_names(0, &names);
  std::string joined;
  for (int i = 0; i < n; ++i) joined += (i ? ":" : "") + std::string(names[i]);
  return joined;
}

void Store(const char* name, const char* text) {
  int fd = memfd_create(name, MFD_CLOEXEC);
  if (write(fd, text, std::strlen(text)) < 0) std::abort();
  const std::string state = std::string("FDSTORE=1\nFDNAME=") + name;
  if (sd_pid_notify_with_fds(0, 0, state.c_str(), &fd, 1) <= 0) std::abort();
  if (sd_notify_barrier(0, 5'000'000) <= 0) std::abort();
}

void Dump(const char* wanted, const char* path) {
  char** names = nullptr;
  const int n = sd_listen_fds_with_names(0, &names);
  for (int i = 0; i < n; ++i) {
    if (std::strcmp(names[i], wanted) != 0) continue;
    char text[256];
    const ssize_t got = pread(SD_LISTEN_FDS_START + i, text, sizeof text, 0);
    Append(path, std::string(text, got < 0 ? 0 : static_cast<size_t>(got)) + "\n");
  }
}

[[noreturn]] void Ping() {
  uint64_t usec = 0;
  if (sd_watchdog_enabled(0, &usec) <= 0) std::abort();
  for (;;) {
    sd_notify(0, "WATCHDOG=1");
    usleep(static_cast<useconds_t>(usec / 2));
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string step = argv[i];
    const auto next = [&] { return argv[++i]; };
    if (step == "ready") sd_notify(0, "READY=1");
    if (step == "exit") _exit(std::atoi(next()));
    if (step == "kill") raise(std::atoi(next()));
    if (step == "say") std::fprintf(stderr, "%s\n", next());
    if (step == "note") Append(next(), std::to_string(getpid()) + " " + JoinedNames() + "\n");
    if (step == "unstore") sd_notify(0, ("FDSTOREREMOVE=1\nFDNAME=" + std::string(next())).c_str());
    if (step == "ping") Ping();
    if (step == "once") {
      const char* file = next();
      if (access(file, F_OK) == 0) i += 2;
      else Append(file, "x");
    }
    if (step == "store") {
      const char* name = next();
      Store(name, next());
    }
    if (step == "dump") {
      const char* name = next();
      Dump(name, next());
    }
    if (step == "spawn") {
      const pid_t pid = fork();
      if (pid == 0)
        for (;;) pause();
      Append(next(), std::to_string(pid));
    }
    if (step == "stubborn") signal(SIGTERM, SIG_IGN);
    if (step == "sleep" || step == "stubborn")
      for (;;) pause();
  }
  return 0;
}
