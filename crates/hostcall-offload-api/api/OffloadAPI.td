// The Offload API: compute devices, their memory, and programs that run on them. Names, parameters and values are those of LLVM 23.
//
// `24/OffloadAPI.td` is LLVM 24's. Both are made of the same files: what is different in them is a list that one of the two leaves empty
// (`Differences.td` here and there), and what only 24 has is in files of its own.

include "APIDefs.td"

def settings : ApiSettings<"hostcall", 23>;

include "Differences.td"
include "Parts.td"
