// The parts that both versions of the API have.

include "Common.td"
include "Platform.td"
include "Device.td"
include "Queue.td"
include "Event.td"
include "Memory.td"
include "Program.td"
include "Symbol.td"
include "Kernel.td"
