// What an API may say and Offload's does not: arrays and callbacks in structures, types whose names are not in the order in which they need
// one another, names that are keywords in Rust, ranges that do not begin at 0, properties that are lists, bits by value.

include "APIDefs.td"

def settings : ApiSettings<"hostcall">;

include "Differences.td"
include "Common.td"
include "Platform.td"

def ol_mode_flag_t : Enum {
  let desc = "A mode, with a | in its description, and */ and `code <T>`";
  let is_bit_field = 1;
  let etors = [Etor<"FAST", "fast">, Etor<"SAFE", "safe">];
}

def ol_mode_flags_t : Typedef {
  let desc = "Modes";
  let value = "uint32_t";
}

def ol_tick_cb_t : FptrTypedef {
  let desc = "Called now and then";
  let params = [
    Param<"uint64_t", "Tick", "which call it is", PARAM_IN>,
    Param<"void*", "UserData", "what was given", PARAM_IN_OPTIONAL>,
  ];
  let return = "void";
}

def ol_zz_inner_t : Struct {
  let desc = "Needed before its name's turn";
  let members = [
    StructMember<"uint8_t[16]", "Id", "sixteen bytes">,
    StructMember<"const char*", "Name", "a name">,
    StructMember<"bool", "Ready", "whether it is ready">,
    StructMember<"ol_mode_flags_t", "Modes", "modes">,
    StructMember<"double", "Ratio", "a ratio">,
  ];
}

def ol_aa_outer_t : Struct {
  let desc = "Holds one of the others";
  let members = [
    StructMember<"ol_zz_inner_t", "Inner", "the inner one">,
    StructMember<"ol_tick_cb_t", "OnTick", "a callback">,
    StructMember<"ol_queue_handle_t", "Queue", "a queue">,
    StructMember<"ol_mode_flag_t", "Single", "one mode">,
    StructMember<"ol_errc_t[2]", "Codes", "two codes">,
    StructMember<"struct ol_aa_outer_t*", "Next", "another of these">,
  ];
}

def ol_thing_info_t : Enum {
  let desc = "What can be asked";
  let is_typed = 1;
  let etors = [
    TaggedEtor<"LIST", "uint32_t[]", "a list">,
    TaggedEtor<"MODES", "ol_mode_flags_t", "modes">,
    TaggedEtor<"OUTER", "ol_aa_outer_t", "a structure">,
    TaggedEtor<"RATIO", "double", "a ratio">,
    TaggedEtor<"QUEUES", "ol_queue_handle_t[]", "queues">,
  ];
}

def olTryMatch : Function {
  let desc = "Tries everything";
  let details = ["A detail with `code`, a \\ and a *star*."];
  let analogues = ["**cuTry**"];
  let nodiscard = 1;
  let params = [
    Param<"ol_mode_flag_t", "Type", "one mode, by value", PARAM_IN>,
    RangedParam<"const ol_aa_outer_t*", "Match", "structures from the second on", PARAM_IN, Range<"1", "Self">>,
    Param<"size_t", "Self", "how many", PARAM_IN>,
    RangedParam<"uint32_t*", "Out", "receives as many numbers", PARAM_OUT, Range<"0", "Self">>,
    RangedParam<"ol_queue_handle_t*", "Loop", "queues", PARAM_IN_OPTIONAL, Range<"0", "4">>,
    Param<"const char*", "Text", "text", PARAM_IN>,
    Param<"float*", "Ratio", "receives a ratio", PARAM_OUT_OPTIONAL>,
    Param<"ol_tick_cb_t", "Callback", "called, if it is there", PARAM_IN_OPTIONAL>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_VALUE", [
      "`Self != 0 && (1 << 3) / Self > 8`",
      "`Match->Inner.Ready && !Callback`",
      "`(Ratio == NULL) == !Loop && Match->Next != NULL && Match->Next->Single == OL_MODE_FLAG_SAFE`",
      "`sizeof(ol_zz_inner_t) * Self >= 0x7fffffff`",
    ]>,
  ];
}

def olGetThingInfo : Function {
  let desc = "Tells";
  let params = [
    Param<"uint32_t", "Thing", "of what", PARAM_IN>,
    Param<"ol_thing_info_t", "PropName", "what", PARAM_IN>,
    Param<"size_t", "PropSize", "how many bytes", PARAM_IN>,
    TypeTaggedParam<"void*", "PropValue", "receives it", PARAM_OUT, TypeInfo<"PropName", "PropSize">>,
  ];
  let returns = [];
}

def olGetThingInfoSize : Function {
  let desc = "Tells how large";
  let params = [
    Param<"uint32_t", "Thing", "of what", PARAM_IN>,
    Param<"ol_thing_info_t", "PropName", "what", PARAM_IN>,
    Param<"size_t*", "PropSizeRet", "receives the size", PARAM_OUT>,
  ];
  let returns = [];
}
