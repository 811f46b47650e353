// What each part of the module binds.
#pragma once

#include <nanobind/nanobind.h>

namespace ilpinfer {

void bind_decoding(nanobind::module_& m);
void bind_relaxations(nanobind::module_& m);
void bind_marginals(nanobind::module_& m);
void bind_searches(nanobind::module_& m);
void bind_lists(nanobind::module_& m);
void bind_parts(nanobind::module_& m);

}  // namespace ilpinfer
