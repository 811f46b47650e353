// Interrupts of long kernels: what a kernel calls in its outer loops.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

namespace ilpinfer {

// Ends a kernel that is interrupted in another thread of its call.
struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

// Checks several times a second, for all threads of one call, for signals and for a number that another thread may set to end the
// call. `signals` throws if there was one.
class Watch {
public:
    explicit Watch(void (*signals)()) : signals_(signals) {}

    void end_by(std::int64_t* number) { end_ = number; }

    void look(bool own_thread)
    {
        if (stop_.load(std::memory_order_relaxed)) throw Interrupted();
        if (end_ && std::atomic_ref(*end_).load(std::memory_order_relaxed)) throw Interrupted();
        if (!own_thread) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(50)) return;
        last_ = now;
        try {
            signals_();
        } catch (...) {
            stop();
            throw;
        }
    }
    void stop() { stop_.store(true, std::memory_order_relaxed); }

private:
    void (*signals_)();
    std::int64_t* end_ = nullptr;
    std::atomic<bool> stop_{false};
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The watch of the call that this thread works for.
struct Watched {
    Watch* watch = nullptr;
    bool own_thread = false;
};
inline thread_local Watched watched;

inline void look_for_interrupts()
{
    if (watched.watch) watched.watch->look(watched.own_thread);
}

}  // namespace ilpinfer
