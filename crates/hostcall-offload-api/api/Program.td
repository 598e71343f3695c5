// Programs: images of code, loaded on a device.

def olCreateProgram : Function {
  let desc = "Loads an image on a device";
  let details = ["The image is copied; the caller may free it when the call returns."];
  let params = InContext#[
    Param<"ol_device_handle_t", "Device", "the device", PARAM_IN>,
    RangedParam<"const void*", "ProgData", "the image", PARAM_IN, Range<"0", "ProgDataSize">>,
    Param<"size_t", "ProgDataSize", "how many bytes it has", PARAM_IN>,
    Param<"ol_program_handle_t*", "Program", "receives the program", PARAM_OUT>,
  ];
  let returns = OfContext#[
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]#NotInContext>,
    Return<"OL_ERRC_INVALID_BINARY", ["the image is damaged, or not for this device"]>,
    Return<"OL_ERRC_ASSEMBLE_FAILURE">,
    Return<"OL_ERRC_COMPILE_FAILURE">,
    Return<"OL_ERRC_LINK_FAILURE">,
  ];
}

def olIsValidBinary : Function {
  let desc = "Tells whether a device can load an image, without loading it";
  let params = [
    Param<"ol_device_handle_t", "Device", "the device", PARAM_IN>,
    RangedParam<"const void*", "ProgData", "the image", PARAM_IN, Range<"0", "ProgDataSize">>,
    Param<"size_t", "ProgDataSize", "how many bytes it has", PARAM_IN>,
    Param<"bool*", "Valid", "receives the answer", PARAM_OUT>,
  ];
  let returns = [Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]>];
}

def olDestroyProgram : Function {
  let desc = "Unloads a program";
  let details = ["Its symbols are gone with it."];
  let params = [
    Param<"ol_program_handle_t", "Program", "the program, which must not be used again", PARAM_IN>,
  ];
  let returns = [Return<"OL_ERRC_INVALID_ARGUMENT", ["`Program` is not a program, or is destroyed already"]>];
}
