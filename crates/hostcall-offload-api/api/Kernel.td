// Kernels: how large a launch is, and launching.

def ol_kernel_launch_size_args_t : Struct {
  let desc = "How large a launch is";
  let members = [
    StructMember<"size_t", "Dimensions", "how many dimensions are used: 1, 2 or 3">,
    StructMember<"struct ol_dimensions_t", "NumGroups", "how many work groups there are in each dimension">,
    StructMember<"struct ol_dimensions_t", "GroupSize", "how many work items a work group has in each dimension">,
    StructMember<"size_t", "DynSharedMemory", "how many bytes of local memory a work group has besides what its kernel declares">,
  ];
}

def ol_kernel_launch_prop_type_t : Enum {
  let desc = "What can be said of a launch besides its size";
  let is_typed = 1;
  let etors = [
    TaggedEtor<"NONE", "void *", "ends the list">,
    TaggedEtor<"IS_COOPERATIVE", "bool *", "whether its work groups can wait for one another">,
  ];
}

def ol_kernel_launch_prop_t : Struct {
  let desc = "One thing that is said of a launch";
  let members = [
    StructMember<"ol_kernel_launch_prop_type_t", "type", "what is said">,
    StructMember<"void *", "data", "the value, of the type that goes with it">,
  ];
}

def OL_KERNEL_LAUNCH_PROP_END : Macro {
  let desc = "The last element of a list of ol_kernel_launch_prop_t";
  let value = "{OL_KERNEL_LAUNCH_PROP_TYPE_NONE, NULL}";
}

def olLaunchKernel : Function {
  let desc = "Launches a kernel";
  let details = [
    "With a queue the kernel runs in the queue's turn; without one it has run when the call returns.",
    "Arguments are copied: `ArgPtrs[i]` points to `ArgSizes[i]` bytes, the value of the kernel's argument `i`.",
  ];
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue, or null to wait for the kernel", PARAM_IN_OPTIONAL>,
    Param<"ol_device_handle_t", "Device", "the device that runs the kernel", PARAM_IN>,
    Param<"ol_symbol_handle_t", "Kernel", "the kernel", PARAM_IN>,
    Param<"const ol_kernel_launch_size_args_t*", "LaunchSizeArgs", "how large the launch is", PARAM_IN>,
    Param<"const ol_kernel_launch_prop_t*", "Properties", "what else is said of the launch, ending with OL_KERNEL_LAUNCH_PROP_END",
          PARAM_IN_OPTIONAL>,
    Param<"size_t", "NumArgs", "how many arguments there are: as many as the kernel has", PARAM_IN>,
    RangedParam<"void**", "ArgPtrs", "where each argument's value is; null if there are none", PARAM_IN_OPTIONAL, Range<"0", "NumArgs">>,
    RangedParam<"const size_t*", "ArgSizes", "how many bytes each argument has; null if there are none", PARAM_IN_OPTIONAL,
                Range<"0", "NumArgs">>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_ARGUMENT", [
      "`(ArgPtrs == NULL) != (ArgSizes == NULL)`",
      "`NumArgs > 0 && (ArgPtrs == NULL || ArgSizes == NULL)`",
      "the kernel has more arguments than `NumArgs`, or fewer",
    ]>,
    Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is neither null nor a queue"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device, or not the queue's"]>,
    Return<"OL_ERRC_SYMBOL_KIND", ["`Kernel` is not a kernel"]>,
  ];
}

def olCalculateOptimalOccupancy : Function {
  let desc = "Tells the size of work groups with which a device is best used by a kernel";
  let params = [
    Param<"ol_device_handle_t", "Device", "the device", PARAM_IN>,
    Param<"ol_symbol_handle_t", "Kernel", "the kernel", PARAM_IN>,
    Param<"size_t", "SharedMemory", "how many bytes of local memory each work item needs besides what the kernel declares", PARAM_IN>,
    Param<"size_t*", "GroupSize", "receives the number of work items", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]>,
    Return<"OL_ERRC_SYMBOL_KIND", ["`Kernel` is not a kernel"]>,
    Return<"OL_ERRC_UNSUPPORTED", ["the driver does not tell"]>,
  ];
}

def olGetKernelMaxCooperativeGroupCount : Function {
  let desc = "Tells how many work groups a cooperative launch of a kernel may have";
  let details = ["Work groups that wait for one another must all fit on the device at the same time; how many do depends on their size."];
  let params = [
    Param<"ol_device_handle_t", "Device", "the device", PARAM_IN>,
    Param<"ol_symbol_handle_t", "Kernel", "the kernel", PARAM_IN>,
    Param<"const ol_kernel_launch_size_args_t*", "LaunchSizeArgs", "how large a work group is; the number of groups does not matter", PARAM_IN>,
    Param<"uint32_t*", "MaxGroupCount", "receives the number of work groups", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]>,
    Return<"OL_ERRC_SYMBOL_KIND", ["`Kernel` is not a kernel"]>,
    Return<"OL_ERRC_UNSUPPORTED", ["the device has no cooperative launches, or its driver does not tell"]>,
  ];
}
