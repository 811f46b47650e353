// Sorting, selection and counts.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "view.hpp"

namespace ilpinfer {

// The order of values, largest first; equal values keep their order.
inline std::vector<Int> descending(ConstInts values)
{
    std::vector<Int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Int a, Int b) { return values[a] > values[b]; });
    return order;
}

inline Int count_nonzero(ConstInts values)
{
    return std::count_if(values.begin(), values.end(), [](Int value) { return value != 0; });
}

// The value at a place of the values in ascending order.
inline Int nth_smallest(ConstInts values, Int place)
{
    std::vector<Int> rest(values.begin(), values.end());
    std::nth_element(rest.begin(), rest.begin() + place, rest.end());
    return rest[place];
}

}  // namespace ilpinfer
