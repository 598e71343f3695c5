// The Offload API of LLVM 24: that of LLVM 23 with contexts, and with more to iterate over and to ask for.

include "APIDefs.td"

def settings : ApiSettings<"hostcall", 24>;

include "24/Differences.td"
include "Parts.td"
include "24/Context.td"
include "24/Iteration.td"
include "24/HostMemory.td"
