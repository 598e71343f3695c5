// Contexts: devices that share what is made in them.

def olCreateContext : Function {
  let desc = "Makes a context of some devices";
  let details = [
    "All of them are of one platform and have the same `OL_DEVICE_INFO_DRIVER_ID`.",
    "Queues, programs and memory are made in a context. Memory of one is not known in another.",
  ];
  let params = [
    Param<"size_t", "DevicesCount", "how many devices there are", PARAM_IN>,
    RangedParam<"ol_device_handle_t*", "Devices", "the devices", PARAM_IN, Range<"0", "DevicesCount">>,
    Param<"ol_context_handle_t*", "Context", "receives the context", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZE", ["`DevicesCount == 0`"]>,
    Return<"OL_ERRC_INVALID_NULL_HANDLE", ["an element of `Devices` is null"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["an element of `Devices` is not a device", "two devices cannot share a context"]>,
  ];
}

def olDestroyContext : Function {
  let desc = "Gives a context back";
  let details = [
    "Memory that was allocated in it is freed with it. Queues and programs that were made in it stay until they are destroyed.",
  ];
  let params = [
    Param<"ol_context_handle_t", "Context", "the context, which must not be used again", PARAM_IN>,
  ];
  let returns = [Return<"OL_ERRC_INVALID_CONTEXT", ["`Context` is not a context, or is destroyed already"]>];
}

def ol_context_info_t : Enum {
  let desc = "What can be asked of a context";
  let is_typed = 1;
  let etors = [
    TaggedEtor<"NUM_DEVICES", "size_t", "how many devices it has">,
    TaggedEtor<"DEVICES", "ol_device_handle_t[]", "its devices">,
    TaggedEtor<"PLATFORM", "ol_platform_handle_t", "the platform that its devices belong to">,
  ];
}

def olGetContextInfo : Function {
  let desc = "Tells a property of a context";
  let details = ["`olGetContextInfoSize` tells how many bytes the property needs."];
  let params = [
    Param<"ol_context_handle_t", "Context", "the context", PARAM_IN>,
    Param<"ol_context_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t", "PropSize", "how many bytes PropValue has room for", PARAM_IN>,
    TypeTaggedParam<"void*", "PropValue", "receives the property; not written when the call fails", PARAM_OUT,
                    TypeInfo<"PropName", "PropSize">>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZE", ["`PropSize == 0`", "the property needs more than `PropSize` bytes"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of contexts"]>,
    Return<"OL_ERRC_INVALID_CONTEXT", ["`Context` is not a context"]>,
  ];
}

def olGetContextInfoSize : Function {
  let desc = "Tells how many bytes a property of a context needs";
  let params = [
    Param<"ol_context_handle_t", "Context", "the context", PARAM_IN>,
    Param<"ol_context_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t*", "PropSizeRet", "receives the size in bytes", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of contexts"]>,
    Return<"OL_ERRC_INVALID_CONTEXT", ["`Context` is not a context"]>,
  ];
}
