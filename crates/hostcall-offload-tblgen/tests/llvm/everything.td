// One of each kind of object, with what each may have.

include "APIDefs.td"

def OL_PLAIN : Macro {
  let desc = "a value";
  let value = "1";
}

def "OL_MAX(a, b)" : Macro {
  let desc = "the larger of two";
  let condition = "defined(OL_FAST)";
  let value = "((a) > (b) ? (a) : (b))";
  let alt_value = "ol_max(a, b)";
}

def OL_NO_WINDOWS : Macro {
  let desc = "nothing on Windows";
  let condition = "!defined(_WIN32)";
  let value = "1";
}

def ol_thing_handle_t : Handle {
  let desc = "a thing";
}

def ol_errc_t : Enum {
  let desc = "what can go wrong";
  let nodiscard = 1;
  let etors = [
    Etor<"SUCCESS", "nothing">,
    Etor<"UNINITIALIZED", "not started">,
    Etor<"INVALID_SIZE", "a size">,
    Etor<"INVALID_NULL_HANDLE", "no handle">,
    Etor<"INVALID_NULL_POINTER", "no pointer">,
  ];
}

def ol_thing_flag_t : Enum {
  let desc = "bits";
  let is_bit_field = 1;
  let etors = [Etor<"lower", "is written in capitals">, Etor<"SECOND", "two\nlines">, Etor<"THIRD", "">];
}

def ol_device_info_t : Enum {
  let desc = "properties of all kinds";
  let is_typed = 1;
  let etors = [
    TaggedEtor<"NAME", "char[]", "text">,
    TaggedEtor<"OWNER", "ol_thing_handle_t", "a handle">,
    TaggedEtor<"BASE", "void *", "a pointer">,
    TaggedEtor<"SIZES", "uint32_t[]", "several">,
    TaggedEtor<"KIND", "ol_errc_t", "an enumerator">,
  ];
}

def ol_thing_flags_t : Typedef {
  let desc = "several bits";
  let value = "uint32_t";
}

def ol_thing_cb_t : FptrTypedef {
  let desc = "is called";
  let params = [
    Param<"ol_thing_handle_t", "Thing", "which", PARAM_IN>,
    Param<"void*", "UserData", "anything", PARAM_IN_OPTIONAL>,
  ];
  let return = "bool";
}

def ol_error_struct_t : Struct {
  let desc = "an error";
  let members = [StructMember<"ol_errc_t", "Code", "kind">, StructMember<"const char*", "Details", "text">];
}

def ol_thing_t : Struct {
  let desc = "one of each kind of member";
  let nodiscard = 1;
  let members = [
    StructMember<"uint32_t", "Count", "a number">,
    StructMember<"void *", "Data", "a pointer">,
    StructMember<"ol_thing_handle_t", "Parent", "a handle">,
    StructMember<"struct ol_error_struct_t", "Last", "another structure">,
  ];
}

def ol_thing_desc_t : Struct {
  let desc = "has a base";
  let base_class = "ol_base_desc_t";
  let members = [StructMember<"bool", "Hot", "is it?">];
}

def olInit : Function {
  let desc = "starts";
  let details = [];
  let params = [];
  let returns = [];
}

def olGetDeviceInfo : Function {
  let desc = "tells";
  let details = ["The first detail.", "The second, of `olGetDeviceInfo`."];
  let analogues = ["cuDeviceGetAttribute", "hipDeviceGetAttribute"];
  let params = [
    Param<"ol_thing_handle_t", "Thing", "of which", PARAM_IN>,
    Param<"ol_device_info_t", "PropName", "what", PARAM_IN>,
    Param<"size_t", "PropSize", "room", PARAM_IN>,
    TypeTaggedParam<"void*", "PropValue", "where", PARAM_OUT, TypeInfo<"PropName", "PropSize">>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZE", ["`PropSize == 0`", "`PropSize` is too small", "is it `small`"]>,
  ];
}

def olWaitRPCAll : Function {
  let desc = "waits";
  let nodiscard = 1;
  let params = [
    RangedParam<"ol_thing_handle_t*", "Things", "for which", PARAM_IN, Range<"0", "NumThings">>,
    Param<"size_t", "NumThings", "how many", PARAM_IN>,
    Param<"ol_thing_cb_t", "Callback", "told of each", PARAM_IN_OPTIONAL>,
    Param<"uint32_t*", "Done", "how many were done", PARAM_OUT_OPTIONAL>,
  ];
  let returns = [Return<"OL_ERRC_INVALID_NULL_HANDLE", ["one of `Things` is null"]>];
}
