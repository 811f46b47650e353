// Grid units of scores, as formulations.grid has them.
#pragma once

#include "view.hpp"

namespace ilpinfer {

inline constexpr Int FORBIDDEN = -(Int{1} << 60);
inline constexpr Int DEAD = FORBIDDEN / 2;  // values below it contain a forbidden step
inline constexpr Int HARD = Int{1} << 60;   // cost where a hard rule is broken
inline constexpr Int UNITS_PER_NAT = Int{1} << 20;

}  // namespace ilpinfer
