// A definition with every fault that a lint finds. The lint that finds each is named beside it.

include "APIDefs.td"

def OL_ERRC_UNKNOWN : Macro { // duplicate-name
  let desc = "is also an enumerator";
  let value = "1";
}

def ol_thing : Handle { // invalid-name
  let desc = "is not named like a handle";
}

def ol_errc_t : Enum {
  let desc = "errors";
  let etors = [
    Etor<"SUCCESS", "none">,
    Etor<"UNINITIALIZED", "not started">,
    Etor<"UNKNOWN", "some">,
    Etor<"INVALID_SIZE", "a size">,
    Etor<"INVALID_NULL_HANDLE", "no handle">,
    Etor<"INVALID_NULL_POINTER", "no pointer">,
    Etor<"INVALID_SIZE", "again">, // duplicate-name
    Etor<"LAST", "is added anyway">, // duplicate-name
  ];
}

def ol_info_t : Enum {
  let desc = "properties";
  let is_typed = 1;
  let etors = [
    TaggedEtor<"GOOD", "uint32_t", "has a type">,
    Etor<"BAD", "has none">, // untyped-enumerator
    TaggedEtor<"TRAILING ", "bool", "ends with a blank">, // invalid-name
    TaggedEtor<"STRANGE", "uint33_t", "is of no type">, // unknown-type
  ];
}

def ol_mode_t : Enum {
  let desc = "modes";
  let etors = [TaggedEtor<"ONE", "bool", "has a type all the same">]; // untyped-enumerator
}

def ol_many_t : Enum {
  let desc = "bits";
  let is_bit_field = 1;
  let etors = !foreach(i, !range(32), Etor<"BIT"#i, "one more">); // enum-overflow
}

def ol_early_t : Struct {
  let desc = "is written before what it holds";
  let members = [
    StructMember<"ol_late_t", "Late", "by value">, // type-order
    StructMember<"ol_late_t *", "Pointer", "without the keyword">, // type-order
    StructMember<"struct ol_late_t *", "Fine", "as it should be">,
    StructMember<"bool", "Fine", "again">, // duplicate-name
  ];
}

def ol_late_t : Struct {
  let desc = ""; // missing-description
  let members = [StructMember<"ol_self_t", "Self", "below itself">]; // type-order
}

def ol_self_t : Struct {
  let desc = "contains itself";
  let members = [StructMember<"ol_self_t", "Self", "for ever">]; // type-order, twice
}

def ol_event_handle_t : Handle {
  let desc = "an event";
}

def olFaults : Function {
  let desc = "Has faults; see `olFault` and OL_ERRC_INVALID_SIZES."; // unknown-reference, twice
  let params = [
    Param<"ol_event_handle_t*", "Events", "an array", PARAM_IN>, // array-without-range
    Param<"size_t", "NumEvents", "its length", PARAM_IN>,
    RangedParam<"uint32_t*", "Ranged", "an array", PARAM_IN, Range<"0", "NumEvent">>, // unknown-range
    RangedParam<"uint32_t*", "Unranged", "an array", PARAM_IN, Range<"Ranged", "NumEvents">>, // unknown-range
    RangedParam<"uint32_t", "Single", "no array", PARAM_IN, Range<"0", "NumEvents">>, // unknown-range
    TypeTaggedParam<"void*", "Tagged", "anything", PARAM_OUT, TypeInfo<"Property", "NumEvents">>, // invalid-type-tag
    TypeTaggedParam<"void*", "Untagged", "anything", PARAM_OUT, TypeInfo<"Mode", "Ranged">>, // invalid-type-tag, twice
    Param<"ol_mode_t", "Mode", "which">, // missing-direction
    Param<"uint64", "Strange", "of no type", PARAM_IN>, // unknown-type
    Param<"void (*)(int)", "Stranger", "of no type", PARAM_IN>, // unknown-type
    Param<"const ol_early_t*", "Early", "may be null", PARAM_IN_OPTIONAL>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZES", ["`NumEvents == 0`"]>, // unknown-return-code
    Return<"OL_RESULT_SUCCESS">, // unknown-return-code
    Return<"OL_ERRC_UNKNOWN", [
      "`NumEvents = 1`", // invalid-condition
      "`Missing > 1`", // invalid-condition
      "`100 % Strange != 0`", // invalid-condition
      "`100 / NumEvents > 3`",
      "`100 % Mode != 0`", // unguarded-condition
      "`Early->Fine`", // unguarded-condition
    ]>,
  ];
}
