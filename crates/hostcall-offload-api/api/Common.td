// What all parts of the API share: versions, handles, results, and starting and ending the library.

def OL_VERSION_MAJOR : Macro {
  let desc = "First part of the version of the Offload API";
  let value = "0";
}

def OL_VERSION_MINOR : Macro {
  let desc = "Second part of the version of the Offload API";
  let value = "0";
}

def OL_VERSION_PATCH : Macro {
  let desc = "Third part of the version of the Offload API";
  let value = "1";
}

def OL_APICALL : Macro {
  let desc = "How functions of the API are called";
  let condition = "defined(_WIN32)";
  let value = "__cdecl";
  let alt_value = "";
}

def OL_APIEXPORT : Macro {
  let desc = "What makes a function of the API visible outside the library, where the platform wants that said";
  let condition = "defined(_WIN32)";
  let value = "__declspec(dllexport)";
  let alt_value = "";
}

def ol_platform_handle_t : Handle {
  let desc = "A platform: the devices that one driver serves";
}

def ol_device_handle_t : Handle {
  let desc = "A device, which belongs to a platform";
}

def ol_context_handle_t : Handle {
  let desc = "A context, in which devices share resources";
}

def ol_queue_handle_t : Handle {
  let desc = "A queue: work for one device, done in order";
}

def ol_event_handle_t : Handle {
  let desc = "An event: a point in a queue's work";
}

def ol_program_handle_t : Handle {
  let desc = "A program, loaded on one device";
}

def ol_symbol_handle_t : Handle {
  let desc = "A kernel or a global variable of a program";
}

def ol_errc_t : Enum {
  let desc = "Why a call failed";
  let etors = [
    Etor<"SUCCESS", "the call succeeded">,
    Etor<"UNKNOWN", "the cause is not known, or is a fault of the library">,
    Etor<"HOST_IO", "reading or writing on the host failed">,
    Etor<"INVALID_BINARY", "a program image is damaged or of no known format">,
    Etor<"INVALID_NULL_POINTER", "a pointer that must not be null is null">,
    Etor<"INVALID_ARGUMENT", "an argument has a value that it may not have">,
    Etor<"NOT_FOUND", "what was asked for does not exist">,
    Etor<"OUT_OF_RESOURCES", "memory or another resource is used up">,
    Etor<"INVALID_SIZE", "a size is zero, too small, too large, or not a multiple of what it must be">,
    Etor<"INVALID_ENUMERATION", "an argument is not an enumerator of its enumeration, or not one that applies here">,
    Etor<"HOST_TOOL_NOT_FOUND", "a program that is needed on the host, such as a linker, is not there">,
    Etor<"INVALID_VALUE", "a value is not valid">,
    Etor<"UNIMPLEMENTED", "the library does not implement this yet for the device">,
    Etor<"UNSUPPORTED", "the device or its driver cannot do this">,
    Etor<"ASSEMBLE_FAILURE", "assembling a program image failed">,
    Etor<"COMPILE_FAILURE", "compiling a program image for the device failed">,
    Etor<"LINK_FAILURE", "linking a program image failed">,
    Etor<"BACKEND_FAILURE", "the driver failed, or is in a state in which it cannot be used">,
    Etor<"UNINITIALIZED", "the library, or what the call works on, is not initialised">,
    Etor<"INVALID_NULL_HANDLE", "a handle that must not be null is null">,
    Etor<"INVALID_PLATFORM", "a platform handle is not valid">,
    Etor<"INVALID_DEVICE", "a device handle is not valid, or is not the device that it must be">,
    Etor<"INVALID_QUEUE", "a queue handle is not valid">,
    Etor<"INVALID_EVENT", "an event handle is not valid">,
  ]#ContextCode#[
    Etor<"SYMBOL_KIND", "the symbol is not of the kind that the call needs">,
  ];
}

def ol_error_struct_t : Struct {
  let desc = "What is known of a failure";
  let members = [
    StructMember<"ol_errc_t", "Code", "the kind of failure">,
    StructMember<"const char*", "Details", "what happened, as text for a person">,
  ];
}

def ol_result_t : Typedef {
  let desc = "What every function returns: null for success, else what is known of the failure";
  let value = "const struct ol_error_struct_t*";
}

def OL_SUCCESS : Macro {
  let desc = "The result of a call that succeeded";
  let value = "NULL";
}

def ol_code_location_t : Struct {
  let desc = "Where in the caller's source a call is made";
  let members = [
    StructMember<"const char*", "FunctionName", "the calling function">,
    StructMember<"const char*", "SourceFile", "its file">,
    StructMember<"uint32_t", "LineNumber", "the line, from 1">,
    StructMember<"uint32_t", "ColumnNumber", "the column, from 1">,
  ];
}

def ol_dimensions_t : Struct {
  let desc = "A size or a count for each of three dimensions";
  let members = [
    StructMember<"uint32_t", "x", "first dimension">,
    StructMember<"uint32_t", "y", "second dimension">,
    StructMember<"uint32_t", "z", "third dimension">,
  ];
}

def ol_init_args_t : Struct {
  let desc = "What olInit can be told";
  let members = [
    StructMember<"size_t", "Size", "the size of this structure as the caller knows it: sizeof(ol_init_args_t)">,
    StructMember<"uint32_t", "NumPlatforms", "how many entries Platforms has">,
    StructMember<"const ol_platform_backend_t*", "Platforms", "the back ends to start; null, with NumPlatforms 0, for all of them">,
  ];
}

def OL_INIT_ARGS_INIT : Macro {
  let desc = "An ol_init_args_t to begin with: its size, and every back end";
  let value = "{sizeof(ol_init_args_t), 0, NULL}";
}

def olInit : Function {
  let desc = "Starts the library";
  let details = [
    "Comes before every other call.",
    "May be called again: the library ends with as many calls of `olShutDown` as there were of `olInit`. Only the first call's `InitArgs` count.",
  ];
  let params = [
    Param<"const ol_init_args_t*", "InitArgs", "what to start; null for everything that is there", PARAM_IN_OPTIONAL>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_ARGUMENT", ["`InitArgs != NULL && InitArgs->NumPlatforms > 0 && InitArgs->Platforms == NULL`"]>,
    Return<"OL_ERRC_INVALID_SIZE", ["`InitArgs != NULL && InitArgs->Size == 0`"]>,
  ];
}

def olShutDown : Function {
  let desc = "Undoes one call of olInit";
  let details = [
    "The last one ends the library: whatever was made by it is gone, and calls other than `olInit` return `OL_ERRC_UNINITIALIZED`.",
  ];
  let params = [];
  let returns = [];
}
