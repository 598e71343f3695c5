// The record classes of which an API is made, and what every API file may refer to.
//
// A generator reads the records derived from `Macro`, `Handle`, `Enum`, `Typedef`, `FptrTypedef`, `Struct` and `Function`; a record's name is
// the C name of what it describes. Class, argument and field names are those of the Offload API's definition language, so that definitions
// written for either tool load in the other. docs/reference/offload-tblgen.md describes the language.

defvar PREFIX = "OL";
defvar prefix = !tolower(PREFIX);

// Which way a parameter's data flows, and whether it may be null.
defvar PARAM_IN = 0x1;
defvar PARAM_OUT = 0x2;
defvar PARAM_OPTIONAL = 0x4;
defvar PARAM_IN_OPTIONAL = !or(PARAM_IN, PARAM_OPTIONAL);
defvar PARAM_OUT_OPTIONAL = !or(PARAM_OUT, PARAM_OPTIONAL);

// How the back ends write an API where the command line does not say: `hostcall`, or `llvm` for the text of LLVM's tool. And the version of LLVM
// whose API it is, if it is one's.
class ApiSettings<string Dialect, int Llvm = 0> {
  string dialect = Dialect;
  int llvm = Llvm;
}

// Everything that ends up in the header.
class APIObject {
  string desc;
}

// What a caller that drops it has almost certainly made a mistake with: the result of a function, or a type as a result.
class Nodiscard {
  bit nodiscard = 0;
}

// -- Parameters ------------------------------------------------------------------------------------------------------------------------------

class EndsWith<string text, string suffix> {
  // `!find` wants a start inside the text, hence the two cases.
  bit yes = !if(!lt(!size(text), !size(suffix)), 0, !ne(!find(text, suffix, !sub(!size(text), !size(suffix))), -1));
}

// The elements [begin, end) of an array: numbers or names of parameters.
class Range<string Begin, string End> {
  string begin = Begin;
  string end = End;
}

// Which parameters say what an untyped pointer points to, and how many bytes of it.
class TypeInfo<string Enum, string Size> {
  string enum = Enum;
  string size = Size;
}

class Param<string Type, string Name, string Desc, bits<3> Flags = 0> {
  string type = Type;
  string name = Name;
  string desc = Desc;
  bits<3> flags = Flags;
  Range range = Range<"", "">;
  TypeInfo type_info = TypeInfo<"", "">;
  bit IsHandle = EndsWith<type, "_handle_t">.yes;
  bit IsPointer = EndsWith<type, "*">.yes;
  bit IsCallback = EndsWith<type, "_cb_t">.yes;
}

// A pointer to as many elements as other parameters say; the elements of untyped memory are bytes. The function reads untyped memory if it is
// `const`, and may write it if not.
class RangedParam<string Type, string Name, string Desc, bits<3> Flags, Range Elements> : Param<Type, Name, Desc, Flags> {
  let range = Elements;
}

// A pointer to what a tagged enumerator, given in another parameter, says.
class TypeTaggedParam<string Type, string Name, string Desc, bits<3> Flags, TypeInfo Pointee> : Param<Type, Name, Desc, Flags> {
  let type_info = Pointee;
}

// -- Functions -------------------------------------------------------------------------------------------------------------------------------

// A code that a function may return, and when. A condition whose first and last characters are its only two backticks is an expression over
// the parameters, and is checked before the function runs; every other condition is prose.
class Return<string Value, list<string> Conditions = []> {
  string value = Value;
  list<string> conditions = Conditions;
}

// Codes that every function may return; they come first in `returns_with_def`.
defvar DefaultReturns = [
  Return<PREFIX#"_SUCCESS">,
  Return<PREFIX#"_ERRC_UNINITIALIZED", ["the library is not initialised"]>,
];

// `Returns`, where `Value` also has `Conditions`, if there are any: joined to the entry that is there, or as a new last entry.
class WithConditions<list<Return> Returns, string Value, list<string> Conditions> {
  bit listed = !foldl(0, Returns, found, r, !or(found, !eq(r.value, Value)));
  list<Return> extended = !foreach(r, Returns, !if(!eq(r.value, Value), Return<r.value, r.conditions#Conditions>, r));
  list<Return> result = !if(!empty(Conditions), Returns, !if(listed, extended, Returns#[Return<Value, Conditions>]));
}

// One condition for each parameter that must not be null: handles, or pointers and callbacks.
class NullConditions<list<Param> Params, bit Handles> {
  list<Param> required = !filter(p, Params, !eq(!and(PARAM_OPTIONAL, p.flags), 0));
  list<Param> chosen = !filter(p, required, !if(Handles, p.IsHandle, !or(p.IsPointer, p.IsCallback)));
  list<string> conditions = !foreach(p, chosen, "`NULL == "#p.name#"`");
}

class Function : APIObject, Nodiscard {
  list<Param> params;
  list<Return> returns;
  list<string> details = [];
  list<string> analogues = [];

  list<Return> returns_with_def = DefaultReturns#returns;
  list<Return> returns_with_handles =
      WithConditions<returns_with_def, PREFIX#"_ERRC_INVALID_NULL_HANDLE", NullConditions<params, 1>.conditions>.result;
  list<Return> all_returns =
      WithConditions<returns_with_handles, PREFIX#"_ERRC_INVALID_NULL_POINTER", NullConditions<params, 0>.conditions>.result;
}

// -- Types -----------------------------------------------------------------------------------------------------------------------------------

class Etor<string Name, string Desc> {
  string name = Name;
  string desc = Desc;
  string tagged_type;
}

// An enumerator that names a property; `Type` is the property's type, `T[]` for any number of `T`.
class TaggedEtor<string Name, string Type, string Desc> : Etor<Name, Desc> {
  let tagged_type = Type;
}

// Values count 0, 1, 2 …, or 1, 2, 4 … where the enumerators are bits: new enumerators go to the end.
class Enum : APIObject, Nodiscard {
  // Every enumerator is a TaggedEtor.
  bit is_typed = 0;
  bit is_bit_field = 0;
  list<Etor> etors = [];
}

class StructMember<string Type, string Name, string Desc> {
  string type = Type;
  string name = Name;
  string desc = Desc;
}

// What a structure with a base begins with.
defvar DefaultPropStructMembers = [
  StructMember<prefix#"_structure_type_t", "stype", "says which structure this is">,
  StructMember<"void*", "pNext", "the next structure of a chain, or null">,
];

class Struct : APIObject, Nodiscard {
  string base_class = "";
  list<StructMember> members;
  list<StructMember> inherited_members =
      !if(!or(!eq(base_class, prefix#"_base_properties_t"), !eq(base_class, prefix#"_base_desc_t")), DefaultPropStructMembers, []);
  list<StructMember> all_members = inherited_members#members;
}

class Typedef : APIObject {
  string value;
}

// A pointer to a function that the caller of the API supplies.
class FptrTypedef : APIObject {
  list<Param> params;
  string return;
}

// A macro with arguments has them in its (quoted) record name. `alt_value` is its value where `condition` does not hold.
class Macro : APIObject {
  string value;
  string condition;
  string alt_value;
}

// A pointer to something that only the library knows; the name ends with `_handle_t`.
class Handle : APIObject;
