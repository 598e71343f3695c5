// Platforms, devices that can load an image, and symbols of a program, one after the other.

def ol_platform_iterate_cb_t : FptrTypedef {
  let desc = "Is shown one platform after the other, until it returns false";
  let params = [
    Param<"ol_platform_handle_t", "Platform", "the platform", PARAM_IN>,
    Param<"void*", "UserData", "what the iterating call was given", PARAM_IN_OPTIONAL>,
  ];
  let return = "bool";
}

def olIteratePlatforms : Function {
  let desc = "Shows every platform to a function";
  let details = [
    "Ends early, and successfully, when the function returns false.",
    "Opens no platform: `OL_PLATFORM_INFO_ACTIVE` says which have been opened and have devices.",
  ];
  let params = [
    Param<"ol_platform_iterate_cb_t", "Callback", "the function", PARAM_IN>,
    Param<"void*", "UserData", "handed to the function as it is", PARAM_IN_OPTIONAL>,
  ];
  let returns = [];
}

def olIterateCompatibleDevices : Function {
  let desc = "Shows every device that can load an image to a function";
  let details = ["Ends early, and successfully, when the function returns false. No device can load an image of no bytes."];
  let params = [
    RangedParam<"const void*", "ProgData", "the image", PARAM_IN, Range<"0", "ProgDataSize">>,
    Param<"size_t", "ProgDataSize", "how many bytes it has", PARAM_IN>,
    Param<"ol_device_iterate_cb_t", "Callback", "the function", PARAM_IN>,
    Param<"void*", "UserData", "handed to the function as it is", PARAM_IN_OPTIONAL>,
  ];
  let returns = [];
}

def ol_symbol_iterate_cb_t : FptrTypedef {
  let desc = "Is shown one symbol after the other, until it returns false";
  let params = [
    Param<"ol_symbol_handle_t", "Symbol", "the symbol", PARAM_IN>,
    Param<"void*", "UserData", "what the iterating call was given", PARAM_IN_OPTIONAL>,
  ];
  let return = "bool";
}

def olIterateSymbols : Function {
  let desc = "Shows every symbol of a kind that a program has to a function";
  let details = [
    "Ends early, and successfully, when the function returns false. The symbols are those that `olGetSymbol` finds, in the order of their names.",
  ];
  let params = [
    Param<"ol_program_handle_t", "Program", "the program", PARAM_IN>,
    Param<"ol_symbol_kind_t", "Kind", "the kind of symbols", PARAM_IN>,
    Param<"ol_symbol_iterate_cb_t", "Callback", "the function", PARAM_IN>,
    Param<"void*", "UserData", "handed to the function as it is", PARAM_IN_OPTIONAL>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`Kind` is not a kind of symbols"]>,
    Return<"OL_ERRC_UNSUPPORTED", ["the image does not tell its symbols"]>,
  ];
}
