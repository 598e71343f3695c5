// What LLVM 24 has and LLVM 23 does not, where a definition of both mentions it.

// The parameter and the results of functions that work in a context.
defvar InContext = [
  Param<"ol_context_handle_t", "Context", "the context", PARAM_IN>,
];
defvar OfContext = [
  Return<"OL_ERRC_INVALID_CONTEXT", ["`Context` is not a context"]>,
];
defvar NotInContext = ["`Device` is not one of `Context`"];
// Memory of the host has functions of its own.
defvar NoHostType = ["`Type == OL_ALLOC_TYPE_HOST`"];

// Enumerators, at their places.
defvar ContextCode = [
  Etor<"INVALID_CONTEXT", "a context handle is not valid">,
];
defvar ContextProperty = [
  TaggedEtor<"CONTEXT", "ol_context_handle_t", "the context in which it was made">,
];
defvar LaneProperty = [
  TaggedEtor<"NUM_LANES", "uint32_t", "how many work items run in lockstep: those of a wave">,
];
defvar MoreDeviceProperties = [
  TaggedEtor<"DRIVER_ID", "uint32_t", "which of its platform's drivers serves it: devices of one driver may share a context">,
  TaggedEtor<"COMPUTE_UNIT_KIND", "char[]", "what its code is compiled for: its architecture">,
  TaggedEtor<"TIMESTAMP_FREQUENCY", "uint64_t", "how many ticks the clock that kernels read makes in a second">,
  TaggedEtor<"HARDWARE_PARALLELISM", "uint64_t", "how many waves are on the device at the same time, at most">,
  TaggedEtor<"LAUNCH_DEFAULT_WORK_GROUP_SIZE", "uint32_t", "the number of work items of a group where nothing speaks for another">,
  TaggedEtor<"LAUNCH_DEFAULT_NUM_WORK_GROUPS", "uint32_t", "the number of such groups that fills the device">,
];
defvar MorePlatformProperties = [
  TaggedEtor<"ACTIVE", "bool", "whether it has been opened and has a device; asking does not open it">,
];
defvar MoreSymbolProperties = [
  TaggedEtor<"NAME", "char[]", "its name">,
];
