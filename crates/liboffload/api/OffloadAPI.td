// The Offload API: compute devices, their memory, and programs that run on them. Names, parameters and values are those of LLVM 23.

include "APIDefs.td"

def settings : ApiSettings<"hostcall">;

include "Common.td"
include "Platform.td"
include "Device.td"
include "Queue.td"
include "Event.td"
include "Memory.td"
include "Program.td"
include "Symbol.td"
include "Kernel.td"
