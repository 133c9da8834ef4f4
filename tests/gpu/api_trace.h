// Watches this process's calls of the CUDA runtime and driver from outside of our own code, through CUPTI's callbacks. The library is loaded at
// run time (PROOFLINE_CUPTI names it, else libcupti.so), and the four functions and one struct used here are declared by hand, so that a
// build needs no CUPTI.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace proofline {

class ApiTrace {
 public:
  // Null, with the reason, where CUPTI is not there.
  static std::unique_ptr<ApiTrace> Start(std::string* why) {
    std::unique_ptr<ApiTrace> trace(new ApiTrace());
    *why = trace->Begin();
    if (!why->empty()) return nullptr;
    return trace;
  }
  ~ApiTrace() {
    if (subscriber_) unsubscribe_(subscriber_);
  }
  // How often each call was entered since the start.
  std::map<std::string, uint64_t> Calls() const {
    std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  enum Domain : int { kDriver = 1, kRuntime = 2 };
  enum Site : int { kEnter = 0 };
  struct CallbackData {
    Site site;
    const char* function;
  };
  using Callback = void (*)(void* user, int domain, uint32_t id, const CallbackData* data);

  std::string Begin() {
    const char* path = std::getenv("PROOFLINE_CUPTI");
    void* library = dlopen(path ? path : "libcupti.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    auto subscribe = reinterpret_cast<int (*)(void**, Callback, void*)>(dlsym(library, "cuptiSubscribe"));
    auto enable = reinterpret_cast<int (*)(uint32_t, void*, int)>(dlsym(library, "cuptiEnableDomain"));
    unsubscribe_ = reinterpret_cast<int (*)(void*)>(dlsym(library, "cuptiUnsubscribe"));
    if (!subscribe || !enable || !unsubscribe_) return "a library without cuptiSubscribe";
    if (int error = subscribe(&subscriber_, &ApiTrace::OnCall, this)) return "cuptiSubscribe: error " + std::to_string(error);
    for (int domain : {kDriver, kRuntime})
      if (int error = enable(1, subscriber_, domain)) return "cuptiEnableDomain: error " + std::to_string(error);
    return "";
  }

  static void OnCall(void* user, int domain, uint32_t, const CallbackData* data) {
    if ((domain != kDriver && domain != kRuntime) || data->site != kEnter) return;
    auto* self = static_cast<ApiTrace*>(user);
    std::lock_guard lock(self->mutex_);
    ++self->calls_[data->function];
  }

  int (*unsubscribe_)(void*) = nullptr;
  void* subscriber_ = nullptr;
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> calls_;
};

}  // namespace proofline
