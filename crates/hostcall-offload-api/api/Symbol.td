// Symbols: the kernels and global variables of a program.

def ol_symbol_kind_t : Enum {
  let desc = "Kinds of symbols";
  let etors = [
    Etor<"KERNEL", "a kernel">,
    Etor<"GLOBAL_VARIABLE", "a global variable">,
  ];
}

def olGetSymbol : Function {
  let desc = "Finds a symbol of a program by its name";
  let details = ["The symbol lives as long as its program, and is not destroyed by itself."];
  let params = [
    Param<"ol_program_handle_t", "Program", "the program", PARAM_IN>,
    Param<"const char*", "Name", "the symbol's name", PARAM_IN>,
    Param<"ol_symbol_kind_t", "Kind", "its kind", PARAM_IN>,
    Param<"ol_symbol_handle_t*", "Symbol", "receives the symbol", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`Kind` is not a kind of symbols"]>,
    Return<"OL_ERRC_NOT_FOUND", ["the program has no such symbol"]>,
  ];
}

def ol_symbol_info_t : Enum {
  let desc = "What can be asked of a symbol";
  let is_typed = 1;
  let etors = [
    TaggedEtor<"KIND", "ol_symbol_kind_t", "its kind">,
    TaggedEtor<"GLOBAL_VARIABLE_ADDRESS", "void *", "where a global variable lies in the device's memory">,
    TaggedEtor<"GLOBAL_VARIABLE_SIZE", "size_t", "how many bytes a global variable has">,
  ]#MoreSymbolProperties;
}

def olGetSymbolInfo : Function {
  let desc = "Tells a property of a symbol";
  let details = ["`olGetSymbolInfoSize` tells how many bytes the property needs."];
  let params = [
    Param<"ol_symbol_handle_t", "Symbol", "the symbol", PARAM_IN>,
    Param<"ol_symbol_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t", "PropSize", "how many bytes PropValue has room for", PARAM_IN>,
    TypeTaggedParam<"void*", "PropValue", "receives the property; not written when the call fails", PARAM_OUT,
                    TypeInfo<"PropName", "PropSize">>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZE", ["`PropSize == 0`", "the property needs more than `PropSize` bytes"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of symbols"]>,
    Return<"OL_ERRC_SYMBOL_KIND", ["symbols of this kind do not have the property"]>,
  ];
}

def olGetSymbolInfoSize : Function {
  let desc = "Tells how many bytes a property of a symbol needs";
  let params = [
    Param<"ol_symbol_handle_t", "Symbol", "the symbol", PARAM_IN>,
    Param<"ol_symbol_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t*", "PropSizeRet", "receives the size in bytes", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of symbols"]>,
    Return<"OL_ERRC_SYMBOL_KIND", ["symbols of this kind do not have the property"]>,
  ];
}
