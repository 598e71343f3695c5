// Memory: allocating it, moving data, and letting devices use the host's.

def ol_alloc_type_t : Enum {
  let desc = "Where memory lies, and who can use it";
  let etors = [
    Etor<"HOST", "on the host, usable by devices">,
    Etor<"DEVICE", "on a device">,
    Etor<"MANAGED", "where the driver moves it, usable by host and device">,
  ];
}

def olMemAlloc : Function {
  let desc = "Allocates memory";
  let details = ["Addresses are unique: no two allocations that exist at the same time have an address in common, whatever their devices."];
  let params = InContext#[
    Param<"ol_device_handle_t", "Device", "the device that the memory is for", PARAM_IN>,
    Param<"ol_alloc_type_t", "Type", "where the memory lies", PARAM_IN>,
    Param<"size_t", "Size", "how many bytes", PARAM_IN>,
    Param<"void**", "AllocationOut", "receives the address", PARAM_OUT>,
  ];
  let returns = OfContext#[
    Return<"OL_ERRC_INVALID_SIZE", ["`Size == 0`"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]#NotInContext>,
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`Type` is not an allocation type"]#NoHostType>,
    Return<"OL_ERRC_OUT_OF_RESOURCES", ["there is not that much memory"]>,
  ];
}

def olMemAllocAligned : Function {
  let desc = "Allocates memory at an address that is a multiple of an alignment";
  let details = ["Addresses are unique, as `olMemAlloc` says."];
  let params = InContext#[
    Param<"ol_device_handle_t", "Device", "the device that the memory is for", PARAM_IN>,
    Param<"ol_alloc_type_t", "Type", "where the memory lies", PARAM_IN>,
    Param<"size_t", "Size", "how many bytes", PARAM_IN>,
    Param<"size_t", "Alignment", "the alignment in bytes: a power of two", PARAM_IN>,
    Param<"void**", "AllocationOut", "receives the address", PARAM_OUT>,
  ];
  let returns = OfContext#[
    Return<"OL_ERRC_INVALID_SIZE", ["`Size == 0`"]>,
    Return<"OL_ERRC_INVALID_ARGUMENT", ["`Alignment == 0`", "`(Alignment & (Alignment - 1)) != 0`"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]#NotInContext>,
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`Type` is not an allocation type"]#NoHostType>,
    Return<"OL_ERRC_OUT_OF_RESOURCES", ["there is not that much memory"]>,
  ];
}

def olMemFree : Function {
  let desc = "Gives memory back that olMemAlloc or olMemAllocAligned allocated";
  let params = InContext#[
    Param<"void*", "Address", "the address that the allocating call gave", PARAM_IN>,
  ];
  let returns = OfContext#[Return<"OL_ERRC_NOT_FOUND", ["no allocation of this library begins at `Address`"]>];
}

def ol_mem_info_t : Enum {
  let desc = "What can be asked of an allocation";
  let is_typed = 1;
  let etors = [
    TaggedEtor<"DEVICE", "ol_device_handle_t", "the device that it was allocated for">,
    TaggedEtor<"BASE", "void *", "the address of its first byte">,
    TaggedEtor<"SIZE", "size_t", "how many bytes it has">,
    TaggedEtor<"TYPE", "ol_alloc_type_t", "where it lies">,
  ];
}

def olGetMemInfo : Function {
  let desc = "Tells a property of an allocation";
  let details = [
    "The address may be that of any byte of the allocation.",
    "`olGetMemInfoSize` tells how many bytes the property needs.",
  ];
  let params = InContext#[
    Param<"const void*", "Ptr", "an address in the allocation", PARAM_IN>,
    Param<"ol_mem_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t", "PropSize", "how many bytes PropValue has room for", PARAM_IN>,
    TypeTaggedParam<"void*", "PropValue", "receives the property; not written when the call fails", PARAM_OUT,
                    TypeInfo<"PropName", "PropSize">>,
  ];
  let returns = OfContext#[
    Return<"OL_ERRC_INVALID_SIZE", ["`PropSize == 0`", "the property needs more than `PropSize` bytes"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of allocations"]>,
    Return<"OL_ERRC_NOT_FOUND", ["`Ptr` is in no allocation of this library"]>,
  ];
}

def olGetMemInfoSize : Function {
  let desc = "Tells how many bytes a property of an allocation needs";
  let details = ["The address may be that of any byte of the allocation."];
  let params = InContext#[
    Param<"const void*", "Ptr", "an address in the allocation", PARAM_IN>,
    Param<"ol_mem_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t*", "PropSizeRet", "receives the size in bytes", PARAM_OUT>,
  ];
  let returns = OfContext#[
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of allocations"]>,
    Return<"OL_ERRC_NOT_FOUND", ["`Ptr` is in no allocation of this library"]>,
  ];
}

def olMemcpy : Function {
  let desc = "Copies memory";
  let details = [
    "With a queue the copy is done in the queue's turn; without one it is done when the call returns.",
    "For memory of the host, the device is the one of the platform whose back end is `OL_PLATFORM_BACKEND_HOST`.",
    "With a queue of another device than the host, at least one of the two devices is not the host.",
  ];
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue, or null to wait for the copy", PARAM_IN_OPTIONAL>,
    RangedParam<"void*", "DstPtr", "where to copy to", PARAM_IN, Range<"0", "Size">>,
    Param<"ol_device_handle_t", "DstDevice", "whose memory that is", PARAM_IN>,
    RangedParam<"const void*", "SrcPtr", "where to copy from", PARAM_IN, Range<"0", "Size">>,
    Param<"ol_device_handle_t", "SrcDevice", "whose memory that is", PARAM_IN>,
    Param<"size_t", "Size", "how many bytes", PARAM_IN>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is neither null nor a queue"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["`DstDevice` or `SrcDevice` is not a device"]>,
    Return<"OL_ERRC_INVALID_ARGUMENT", ["both devices are the host, and `Queue` is another device's"]>,
    Return<"OL_ERRC_INVALID_SIZE", ["an allocation of this library ends before `Size` bytes do"]>,
  ];
}

def olMemFill : Function {
  let desc = "Fills memory with a repeated pattern";
  let details = [
    "With a queue the memory is filled in the queue's turn; without one it is filled when the call returns.",
    "The memory is of the queue's device. Patterns of more than four bytes may take longer.",
  ];
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue, or null to wait for the fill", PARAM_IN_OPTIONAL>,
    RangedParam<"void*", "Ptr", "the first byte to fill", PARAM_IN, Range<"0", "FillSize">>,
    Param<"size_t", "PatternSize", "how many bytes the pattern has", PARAM_IN>,
    RangedParam<"const void*", "PatternPtr", "the pattern, in host memory", PARAM_IN, Range<"0", "PatternSize">>,
    Param<"size_t", "FillSize", "how many bytes to fill: a multiple of PatternSize", PARAM_IN>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZE", ["`PatternSize == 0`", "`FillSize % PatternSize != 0`"]>,
    Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is neither null nor a queue"]>,
  ];
}

def ol_mem_migration_flag_t : Enum {
  let desc = "Which way memory migrates";
  let is_bit_field = 1;
  let etors = [
    Etor<"HOST_TO_DEVICE", "to the device">,
    Etor<"DEVICE_TO_HOST", "to the host">,
  ];
}

def ol_mem_migration_flags_t : Typedef {
  let desc = "One ol_mem_migration_flag_t";
  let value = "uint32_t";
}

def olMemPrefetch : Function {
  let desc = "Advises that managed memory will be used on the other side";
  let details = [
    "Changes where the memory lies, not what it holds, and only where the device can: otherwise nothing happens, successfully.",
  ];
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue in whose turn the memory migrates", PARAM_IN>,
    Param<"size_t", "Count", "how many pieces of memory there are; none is allowed", PARAM_IN>,
    RangedParam<"const void**", "Mems", "where each piece begins; may be null if there are none", PARAM_IN_OPTIONAL, Range<"0", "Count">>,
    RangedParam<"const size_t*", "Sizes", "how many bytes each piece has; may be null if there are none", PARAM_IN_OPTIONAL,
                Range<"0", "Count">>,
    Param<"ol_mem_migration_flags_t", "Flags", "which way", PARAM_IN>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is not a queue"]>,
    Return<"OL_ERRC_INVALID_NULL_POINTER", ["`Count > 0 && Mems == NULL`", "`Count > 0 && Sizes == NULL`"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", [
      "`(Flags & ~(OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE | OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST)) != 0`",
    ]>,
  ];
}

def ol_memory_register_flag_t : Enum {
  let desc = "What else happens when host memory is registered or unregistered";
  let is_bit_field = 1;
  let etors = [
    Etor<"LOCK_MEMORY", "its pages are locked">,
    Etor<"UNLOCK_MEMORY", "its pages are unlocked">,
  ];
}

def ol_memory_register_flags_t : Typedef {
  let desc = "Any number of ol_memory_register_flag_t, joined by or";
  let value = "uint32_t";
}

def olMemRegister : Function {
  let desc = "Lets a device use host memory, and gives the address to use";
  let details = [
    "With `OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY` the pages are locked, which makes transfers fast.",
    "Memory may be registered again, as a whole or a part of it, and then has one more user; a range that only overlaps a registered one is refused.",
    "Host and device may both use the address. Nothing is promised about when one sees what the other wrote.",
  ];
  let params = [
    Param<"ol_device_handle_t", "Device", "the device", PARAM_IN>,
    RangedParam<"void*", "Ptr", "the memory's first byte", PARAM_IN, Range<"0", "Size">>,
    Param<"size_t", "Size", "how many bytes", PARAM_IN>,
    Param<"ol_memory_register_flags_t", "Flags", "whether to lock the pages", PARAM_IN>,
    Param<"void**", "PinnedPtr", "receives the address to use", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZE", ["`Size == 0`"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", [
      "`(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) != 0`",
    ]>,
    Return<"OL_ERRC_INVALID_ARGUMENT", ["the memory overlaps registered memory without lying in it"]>,
  ];
}

def olMemUnregister : Function {
  let desc = "Takes back what olMemRegister did for one user";
  let details = [
    "With `OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY` the last user's pages are unlocked.",
  ];
  let params = [
    Param<"ol_device_handle_t", "Device", "the device", PARAM_IN>,
    Param<"void*", "Ptr", "the memory's first byte, as it was registered or as olMemRegister gave it", PARAM_IN>,
    Param<"ol_memory_register_flags_t", "Flags", "whether to unlock the pages", PARAM_IN>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", [
      "`(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) != 0`",
    ]>,
    Return<"OL_ERRC_INVALID_ARGUMENT", ["no registered memory begins at `Ptr`"]>,
  ];
}
