#include "level.hpp"

#include <cstdint>

#if defined(_M_X64)
#include <intrin.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ilpinfer {

#if defined(_M_X64) || defined(__x86_64__)
namespace {

struct Registers {
    std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(std::uint32_t leaf)
{
    Registers r;
#if defined(_M_X64)
    int highest[4], values[4];
    __cpuid(highest, static_cast<int>(leaf & 0x80000000u));
    if (static_cast<std::uint32_t>(highest[0]) < leaf) return r;
    __cpuidex(values, static_cast<int>(leaf), 0);
    r = {std::uint32_t(values[0]), std::uint32_t(values[1]), std::uint32_t(values[2]), std::uint32_t(values[3])};
#else
    __get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx);
#endif
    return r;
}

// The registers that the system saves for each thread.
std::uint64_t saved()
{
#if defined(_M_X64)
    return _xgetbv(0);
#else
    std::uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t(high) << 32 | low;
#endif
}

constexpr std::uint32_t bits(auto... places) { return ((std::uint32_t(1) << places) | ...); }
constexpr bool all(std::uint64_t value, std::uint64_t wanted) { return (value & wanted) == wanted; }

}  // namespace

int level()
{
    const bool fma_movbe_osxsave_avx_f16c = all(cpuid(1).ecx, bits(12, 22, 27, 28, 29));
    const bool bmi1_avx2_bmi2 = all(cpuid(7).ebx, bits(3, 5, 8));
    const bool lzcnt = all(cpuid(0x80000001u).ecx, bits(5));
    return fma_movbe_osxsave_avx_f16c && bmi1_avx2_bmi2 && lzcnt && all(saved(), bits(1, 2)) ? 3 : 2;
}
#else
int level() { return 2; }
#endif

}  // namespace ilpinfer
