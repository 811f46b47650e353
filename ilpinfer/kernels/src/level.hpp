// The instruction set of the processor.
#pragma once

namespace ilpinfer {

// The level of x86-64 that the processor and the system support, as far as modules exist for it: 2 or 3. Others are 2.
int level();

}  // namespace ilpinfer
