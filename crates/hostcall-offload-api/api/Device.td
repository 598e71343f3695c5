// Devices: finding them, and what they are able to do.

def ol_device_type_t : Enum {
  let desc = "Kinds of devices";
  let etors = [
    Etor<"DEFAULT", "the kind that the library would choose">,
    Etor<"ALL", "every kind">,
    Etor<"GPU", "graphics processors">,
    Etor<"CPU", "processors that are used as devices">,
    Etor<"HOST", "the processor that the library runs on, which owns host memory">,
  ];
}

def ol_device_fp_capability_flag_t : Enum {
  let desc = "What a device's floating-point arithmetic does";
  let is_bit_field = 1;
  let etors = [
    Etor<"CORRECTLY_ROUNDED_DIVIDE_SQRT", "division and square root are rounded correctly">,
    Etor<"ROUND_TO_NEAREST", "it can round to the nearest value, ties to even">,
    Etor<"ROUND_TO_ZERO", "it can round towards zero">,
    Etor<"ROUND_TO_INF", "it can round towards either infinity">,
    Etor<"INF_NAN", "it has infinities and quiet NaNs">,
    Etor<"DENORM", "it has subnormal numbers">,
    Etor<"FMA", "it multiplies and adds with one rounding">,
    Etor<"SOFT_FLOAT", "its basic operations are done in software">,
  ];
}

def ol_device_fp_capability_flags_t : Typedef {
  let desc = "Any number of ol_device_fp_capability_flag_t, joined by or";
  let value = "uint32_t";
}

def ol_device_info_t : Enum {
  let desc = "What can be asked of a device";
  let is_typed = 1;

  list<TaggedEtor> identity = [
    TaggedEtor<"TYPE", "ol_device_type_t", "its kind">,
    TaggedEtor<"PLATFORM", "ol_platform_handle_t", "the platform that it belongs to">,
    TaggedEtor<"NAME", "char[]", "its name, as the driver gives it">,
    TaggedEtor<"PRODUCT_NAME", "char[]", "the name under which it is sold">,
    TaggedEtor<"UID", "char[]", "a text that no other device of this machine has">,
    TaggedEtor<"VENDOR", "char[]", "who made it">,
    TaggedEtor<"DRIVER_VERSION", "char[]", "the version of its driver">,
  ];
  list<TaggedEtor> limits = [
    TaggedEtor<"MAX_WORK_GROUP_SIZE", "uint32_t", "the most work items that a work group may have">,
    TaggedEtor<"MAX_WORK_GROUP_SIZE_PER_DIMENSION", "ol_dimensions_t", "the most work items that a work group may have in each dimension">,
    TaggedEtor<"MAX_WORK_SIZE", "uint32_t", "the most work items that a launch may have">,
    TaggedEtor<"MAX_WORK_SIZE_PER_DIMENSION", "ol_dimensions_t", "the most work items that a launch may have in each dimension">,
    TaggedEtor<"VENDOR_ID", "uint32_t", "its maker's number in the PCI registry">,
    TaggedEtor<"NUM_COMPUTE_UNITS", "uint32_t", "how many units run work groups at the same time">,
    TaggedEtor<"MAX_CLOCK_FREQUENCY", "uint32_t", "the highest clock rate of those units, in MHz">,
    TaggedEtor<"MEMORY_CLOCK_RATE", "uint32_t", "the clock rate of its memory, in MHz">,
    TaggedEtor<"ADDRESS_BITS", "uint32_t", "how many bits an address in its memory has">,
    TaggedEtor<"MAX_MEM_ALLOC_SIZE", "uint64_t", "the largest single allocation, in bytes">,
    TaggedEtor<"GLOBAL_MEM_SIZE", "uint64_t", "how much memory it has, in bytes">,
    TaggedEtor<"WORK_GROUP_LOCAL_MEM_SIZE", "uint64_t", "how much local memory a work group may have, in bytes">,
  ];
  list<TaggedEtor> arithmetic = !foreach(precision, ["single", "double", "half"],
    TaggedEtor<precision#"_FP_CONFIG", "ol_device_fp_capability_flags_t", "what its "#precision#"-precision arithmetic does">);
  list<TaggedEtor> vectors = !foreach(element, ["char", "short", "int", "long", "float", "double", "half"],
    TaggedEtor<"NATIVE_VECTOR_WIDTH_"#element, "uint32_t", "how many elements of type "#element#" its own vectors hold">);
  list<TaggedEtor> support = !foreach(precision, ["single", "double", "half"],
    TaggedEtor<precision#"_FP_SUPPORT", "bool", "whether it computes in "#precision#" precision">);
  list<TaggedEtor> launches = [
    TaggedEtor<"COOPERATIVE_LAUNCH_SUPPORT", "bool", "whether all work groups of a launch can wait for one another">,
  ];
  let etors = identity#limits#LaneProperty#arithmetic#vectors#support#launches#MoreDeviceProperties;
}

def ol_device_iterate_cb_t : FptrTypedef {
  let desc = "Is shown one device after the other, until it returns false";
  let params = [
    Param<"ol_device_handle_t", "Device", "the device", PARAM_IN>,
    Param<"void*", "UserData", "what the iterating call was given", PARAM_IN_OPTIONAL>,
  ];
  let return = "bool";
}

def olIterateDevices : Function {
  let desc = "Shows every device to a function";
  let details = ["Ends early, and successfully, when the function returns false."];
  let params = [
    Param<"ol_device_iterate_cb_t", "Callback", "the function", PARAM_IN>,
    Param<"void*", "UserData", "handed to the function as it is", PARAM_IN_OPTIONAL>,
  ];
  let returns = [];
}

def olGetDeviceInfo : Function {
  let desc = "Tells a property of a device";
  let details = ["`olGetDeviceInfoSize` tells how many bytes the property needs."];
  let params = [
    Param<"ol_device_handle_t", "Device", "the device", PARAM_IN>,
    Param<"ol_device_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t", "PropSize", "how many bytes PropValue has room for", PARAM_IN>,
    TypeTaggedParam<"void*", "PropValue", "receives the property; not written when the call fails", PARAM_OUT,
                    TypeInfo<"PropName", "PropSize">>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZE", ["`PropSize == 0`", "the property needs more than `PropSize` bytes"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of devices"]>,
    Return<"OL_ERRC_UNSUPPORTED", ["the driver does not tell this property"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]>,
  ];
}

def olGetDeviceInfoSize : Function {
  let desc = "Tells how many bytes a property of a device needs";
  let params = [
    Param<"ol_device_handle_t", "Device", "the device", PARAM_IN>,
    Param<"ol_device_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t*", "PropSizeRet", "receives the size in bytes; that of a text includes its terminating zero", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of devices"]>,
    Return<"OL_ERRC_UNSUPPORTED", ["the driver does not tell this property"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]>,
  ];
}
