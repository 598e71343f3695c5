// Platforms: what they are called, and what serves them.

def ol_platform_backend_t : Enum {
  let desc = "The driver interface behind a platform";
  let etors = [
    Etor<"UNKNOWN", "none that is known here">,
    Etor<"CUDA", "NVIDIA's CUDA driver">,
    Etor<"AMDGPU", "AMD's HSA runtime">,
    Etor<"LEVEL_ZERO", "Intel's Level Zero">,
    Etor<"HOST", "the processor that the library runs on">,
  ];
}

def ol_platform_info_t : Enum {
  let desc = "What can be asked of a platform";
  let is_typed = 1;
  let etors = [
    TaggedEtor<"NAME", "char[]", "its name">,
    TaggedEtor<"VENDOR_NAME", "char[]", "who made it">,
    TaggedEtor<"VERSION", "char[]", "the version of its driver">,
    TaggedEtor<"BACKEND", "ol_platform_backend_t", "the driver interface behind it">,
  ]#MorePlatformProperties;
}

def olGetPlatformInfo : Function {
  let desc = "Tells a property of a platform";
  let details = ["`olGetPlatformInfoSize` tells how many bytes the property needs."];
  let params = [
    Param<"ol_platform_handle_t", "Platform", "the platform", PARAM_IN>,
    Param<"ol_platform_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t", "PropSize", "how many bytes PropValue has room for", PARAM_IN>,
    TypeTaggedParam<"void*", "PropValue", "receives the property; not written when the call fails", PARAM_OUT,
                    TypeInfo<"PropName", "PropSize">>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZE", ["`PropSize == 0`", "the property needs more than `PropSize` bytes"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of platforms"]>,
    Return<"OL_ERRC_INVALID_PLATFORM", ["`Platform` is not a platform"]>,
  ];
}

def olGetPlatformInfoSize : Function {
  let desc = "Tells how many bytes a property of a platform needs";
  let params = [
    Param<"ol_platform_handle_t", "Platform", "the platform", PARAM_IN>,
    Param<"ol_platform_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t*", "PropSizeRet", "receives the size in bytes; that of a text includes its terminating zero", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of platforms"]>,
    Return<"OL_ERRC_INVALID_PLATFORM", ["`Platform` is not a platform"]>,
  ];
}

def ol_platform_rpc_cb_t : FptrTypedef {
  let desc = "Answers calls that kernels make to the host";
  let params = [
    Param<"void*", "Port", "the port that the call came through", PARAM_IN>,
    Param<"unsigned", "NumLanes", "how many lanes of a wave are served at once", PARAM_IN>,
  ];
  let return = "unsigned";
}

def olPlatformRegisterRPCCallback : Function {
  let desc = "Has a function answer the calls that kernels of a platform make to the host";
  let details = [
    "The function is asked before the library answers itself, and says by its result whether the call is answered.",
  ];
  let params = [
    Param<"ol_platform_handle_t", "Platform", "the platform", PARAM_IN>,
    Param<"ol_platform_rpc_cb_t", "Callback", "the function", PARAM_IN>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_PLATFORM", ["`Platform` is not a platform"]>,
    Return<"OL_ERRC_UNSUPPORTED", ["kernels of the platform cannot call the host"]>,
  ];
}
