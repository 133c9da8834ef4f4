#include "core/base/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "core/base/clock.h"
#include "core/base/text.h"

namespace proofline {

namespace {
constexpr uint64_t kBarrierUs = 5'000'000;

bool HasManager() {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  return socket && *socket;
}

Status StoreOne(const std::string& name, int fd) {
  const std::string state = StrCat("FDSTORE=1\nFDNAME=", name);
  if (const int result = sd_pid_notify_with_fds(0, 0, state.c_str(), &fd, 1); result < 0) {
    return Status(ErrorCode::kIo, StrCat("the service manager did not take the descriptor ", name), std::strerror(-result));
  }
  return OkStatus();
}
}  // namespace

InheritedFds ServiceManager::TakeFds() {
  InheritedFds out;
  char** names = nullptr;
  const int count = sd_listen_fds_with_names(1, &names);
  std::map<uint32_t, UniqueFd> slots;
  for (int i = 0; i < count; ++i) {
    UniqueFd fd(SD_LISTEN_FDS_START + i);
    const std::string name = names && names[i] ? names[i] : "";
    if (names) std::free(names[i]);
    if (name == "work") out.work = std::move(fd);
    else if (name == "front") out.front = std::move(fd);
    else if (name == "broker") out.broker = std::move(fd);
    else if (name == "table") out.table = std::move(fd);
    else if (name.rfind("slot-", 0) == 0) slots[static_cast<uint32_t>(std::strtoul(name.c_str() + 5, nullptr, 10))] = std::move(fd);
  }
  std::free(names);
  for (auto& [index, fd] : slots) {
    if (index != out.slots.size()) break;
    out.slots.push_back(std::move(fd));
  }
  return out;
}

Status ServiceManager::Store(int table, const std::vector<int>& slots) {
  if (!HasManager()) return OkStatus();
  PL_RETURN_IF_ERROR(StoreOne("table", table));
  for (size_t i = 0; i < slots.size(); ++i) PL_RETURN_IF_ERROR(StoreOne(StrCat("slot-", i), slots[i]));
  if (const int result = sd_notify_barrier(0, kBarrierUs); result < 0) {
    return Status(ErrorCode::kIo, "the service manager did not confirm the stored descriptors", std::strerror(-result));
  }
  return OkStatus();
}

void ServiceManager::Forget(uint32_t slot_count) {
  if (!HasManager()) return;
  sd_notify(0, "FDSTOREREMOVE=1\nFDNAME=table");
  for (uint32_t i = 0; i < slot_count; ++i) sd_notify(0, StrCat("FDSTOREREMOVE=1\nFDNAME=slot-", i).c_str());
}

void ServiceManager::Ready() { sd_notify(0, "READY=1"); }
void ServiceManager::Stopping() { sd_notify(0, "STOPPING=1"); }
void ServiceManager::Ping() { sd_notify(0, "WATCHDOG=1"); }

std::optional<uint64_t> ServiceManager::PingIntervalNs() {
  uint64_t limit_us = 0;
  if (sd_watchdog_enabled(0, &limit_us) <= 0) return std::nullopt;
  return limit_us * 1000 / 3;
}

void Watchdog::Tick() {
  if (!interval_ns_ || MonotonicNs() < next_ns_) return;
  next_ns_ = MonotonicNs() + *interval_ns_;
  ServiceManager::Ping();
}

}  // namespace proofline
