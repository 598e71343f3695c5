// Memory of the host that devices use, and which memory a device can use.

def olMemAllocHost : Function {
  let desc = "Allocates memory on the host that devices can use";
  let details = ["The same as `olMemAlloc` with `OL_ALLOC_TYPE_HOST`."];
  let params = InContext#[
    Param<"ol_device_handle_t", "Device", "the device that the memory is for", PARAM_IN>,
    Param<"size_t", "Size", "how many bytes", PARAM_IN>,
    Param<"void**", "AllocationOut", "receives the address", PARAM_OUT>,
  ];
  let returns = OfContext#[
    Return<"OL_ERRC_INVALID_SIZE", ["`Size == 0`"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]#NotInContext>,
    Return<"OL_ERRC_OUT_OF_RESOURCES", ["there is not that much memory"]>,
  ];
}

def olMemAllocAlignedHost : Function {
  let desc = "Allocates memory on the host that devices can use, at an address that is a multiple of an alignment";
  let details = ["The same as `olMemAllocAligned` with `OL_ALLOC_TYPE_HOST`."];
  let params = InContext#[
    Param<"ol_device_handle_t", "Device", "the device that the memory is for", PARAM_IN>,
    Param<"size_t", "Size", "how many bytes", PARAM_IN>,
    Param<"size_t", "Alignment", "the alignment in bytes: a power of two", PARAM_IN>,
    Param<"void**", "AllocationOut", "receives the address", PARAM_OUT>,
  ];
  let returns = OfContext#[
    Return<"OL_ERRC_INVALID_SIZE", ["`Size == 0`"]>,
    Return<"OL_ERRC_INVALID_ARGUMENT", ["`Alignment == 0`", "`(Alignment & (Alignment - 1)) != 0`"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]#NotInContext>,
    Return<"OL_ERRC_OUT_OF_RESOURCES", ["there is not that much memory"]>,
  ];
}

def olMemIsAccessible : Function {
  let desc = "Tells whether kernels of a device can use memory";
  let details = [
    "Memory of a device is for its own kernels; memory that was allocated as `OL_ALLOC_TYPE_HOST` or `OL_ALLOC_TYPE_MANAGED` is for all devices of its platform, and for the host.",
    "Memory that this library did not allocate is taken for the host's: it is accessible to devices that can use any memory of the host, and where it is registered.",
  ];
  let params = InContext#[
    Param<"ol_device_handle_t", "Device", "the device", PARAM_IN>,
    Param<"const void*", "Ptr", "the memory's first byte; it is not read", PARAM_IN>,
    Param<"size_t", "Size", "how many bytes", PARAM_IN>,
    Param<"bool*", "IsAccessible", "receives the answer", PARAM_OUT>,
  ];
  let returns = OfContext#[
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]#NotInContext>,
  ];
}
