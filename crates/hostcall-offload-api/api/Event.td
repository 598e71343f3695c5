// Events: points in the work of queues.

def ol_event_flags_t : Enum {
  let desc = "What an event is for";
  let etors = [
    Etor<"NONE", "waiting only">,
    Etor<"ENABLE_PROFILING", "waiting, and measuring time with olGetEventElapsedTime">,
  ];
}

def olCreateEvent : Function {
  let desc = "Marks the end of the work that a queue has so far";
  let details = ["The event is complete when everything that was put into the queue before it is done."];
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue", PARAM_IN>,
    Param<"ol_event_flags_t", "Flags", "what the event is for", PARAM_IN>,
    Param<"ol_event_handle_t*", "Event", "receives the event", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is not a queue"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`Flags` is not an event flag"]>,
    Return<"OL_ERRC_OUT_OF_RESOURCES">,
  ];
}

def olDestroyEvent : Function {
  let desc = "Gives an event back";
  let params = [
    Param<"ol_event_handle_t", "Event", "the event, which must not be used again", PARAM_IN>,
  ];
  let returns = [Return<"OL_ERRC_INVALID_EVENT", ["`Event` is not an event, or is destroyed already"]>];
}

def olSyncEvent : Function {
  let desc = "Waits until an event is complete";
  let params = [
    Param<"ol_event_handle_t", "Event", "the event", PARAM_IN>,
  ];
  let returns = [Return<"OL_ERRC_INVALID_EVENT", ["`Event` is not an event"]>];
}

def olGetEventElapsedTime : Function {
  let desc = "Tells how much time lies between two events";
  let details = [
    "Both events must be of one device, made with `OL_EVENT_FLAGS_ENABLE_PROFILING`, and complete.",
  ];
  let params = [
    Param<"ol_event_handle_t", "StartEvent", "the earlier event", PARAM_IN>,
    Param<"ol_event_handle_t", "EndEvent", "the later event", PARAM_IN>,
    Param<"float*", "ElapsedTime", "receives the time in milliseconds", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_EVENT", ["`StartEvent` or `EndEvent` is not an event"]>,
    Return<"OL_ERRC_INVALID_ARGUMENT", ["an event does not measure time, or is not complete"]>,
    Return<"OL_ERRC_INVALID_DEVICE", ["the events are of different devices"]>,
  ];
}

def ol_event_info_t : Enum {
  let desc = "What can be asked of an event";
  let is_typed = 1;
  let etors = [
    TaggedEtor<"QUEUE", "ol_queue_handle_t", "the queue whose work it marks">,
    TaggedEtor<"IS_COMPLETE", "bool", "whether it is complete">,
  ];
}

def olGetEventInfo : Function {
  let desc = "Tells a property of an event";
  let details = ["`olGetEventInfoSize` tells how many bytes the property needs."];
  let params = [
    Param<"ol_event_handle_t", "Event", "the event", PARAM_IN>,
    Param<"ol_event_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t", "PropSize", "how many bytes PropValue has room for", PARAM_IN>,
    TypeTaggedParam<"void*", "PropValue", "receives the property; not written when the call fails", PARAM_OUT,
                    TypeInfo<"PropName", "PropSize">>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZE", ["`PropSize == 0`", "the property needs more than `PropSize` bytes"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of events"]>,
    Return<"OL_ERRC_INVALID_EVENT", ["`Event` is not an event"]>,
    Return<"OL_ERRC_INVALID_QUEUE", ["the queue is asked for, and has been destroyed"]>,
  ];
}

def olGetEventInfoSize : Function {
  let desc = "Tells how many bytes a property of an event needs";
  let params = [
    Param<"ol_event_handle_t", "Event", "the event", PARAM_IN>,
    Param<"ol_event_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t*", "PropSizeRet", "receives the size in bytes", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of events"]>,
    Return<"OL_ERRC_INVALID_EVENT", ["`Event` is not an event"]>,
    Return<"OL_ERRC_INVALID_QUEUE", ["the queue is asked for, and has been destroyed"]>,
  ];
}
