// Queues: work for one device, done in the order in which it was put there.

def olCreateQueue : Function {
  let desc = "Makes a queue";
  let params = InContext#[
    Param<"ol_device_handle_t", "Device", "the device that will do the queue's work", PARAM_IN>,
    Param<"ol_queue_handle_t*", "Queue", "receives the queue", PARAM_OUT>,
  ];
  let returns = OfContext#[
    Return<"OL_ERRC_INVALID_DEVICE", ["`Device` is not a device"]#NotInContext>,
    Return<"OL_ERRC_OUT_OF_RESOURCES">,
  ];
}

def olDestroyQueue : Function {
  let desc = "Gives a queue back";
  let details = ["Does not wait: work that is in the queue is still done, and events that mark it stay valid."];
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue, which must not be used again", PARAM_IN>,
  ];
  let returns = [Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is not a queue, or is destroyed already"]>];
}

def olSyncQueue : Function {
  let desc = "Waits until a queue's work is done";
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue", PARAM_IN>,
  ];
  let returns = [Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is not a queue"]>];
}

def olQueryQueue : Function {
  let desc = "Tells, without waiting, whether a queue's work is done";
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue", PARAM_IN>,
    Param<"bool*", "IsQueueWorkCompleted", "receives the answer; null to learn only whether the queue works", PARAM_OUT_OPTIONAL>,
  ];
  let returns = [Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is not a queue"]>];
}

def olWaitEvents : Function {
  let desc = "Has later work of a queue wait for events";
  let details = [
    "Does not itself wait: work that is put into the queue from now on begins when all of `Events` are complete.",
    "The events may be of any queues of devices of the queue's platform.",
  ];
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue that waits", PARAM_IN>,
    RangedParam<"ol_event_handle_t*", "Events", "the events to wait for", PARAM_IN, Range<"0", "NumEvents">>,
    Param<"size_t", "NumEvents", "how many events there are", PARAM_IN>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is not a queue"]>,
    Return<"OL_ERRC_INVALID_NULL_HANDLE", ["an element of `Events` is null"]>,
    Return<"OL_ERRC_INVALID_EVENT", ["an element of `Events` is not an event"]>,
  ];
}

def ol_queue_info_t : Enum {
  let desc = "What can be asked of a queue";
  let is_typed = 1;
  let etors = [
    TaggedEtor<"DEVICE", "ol_device_handle_t", "the device that does its work">,
  ]#ContextProperty#[
    TaggedEtor<"EMPTY", "bool", "whether it is known to have no work left; always false where the driver cannot tell">,
  ];
}

def olGetQueueInfo : Function {
  let desc = "Tells a property of a queue";
  let details = ["`olGetQueueInfoSize` tells how many bytes the property needs."];
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue", PARAM_IN>,
    Param<"ol_queue_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t", "PropSize", "how many bytes PropValue has room for", PARAM_IN>,
    TypeTaggedParam<"void*", "PropValue", "receives the property; not written when the call fails", PARAM_OUT,
                    TypeInfo<"PropName", "PropSize">>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_SIZE", ["`PropSize == 0`", "the property needs more than `PropSize` bytes"]>,
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of queues"]>,
    Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is not a queue"]>,
  ];
}

def olGetQueueInfoSize : Function {
  let desc = "Tells how many bytes a property of a queue needs";
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue", PARAM_IN>,
    Param<"ol_queue_info_t", "PropName", "the property", PARAM_IN>,
    Param<"size_t*", "PropSizeRet", "receives the size in bytes", PARAM_OUT>,
  ];
  let returns = [
    Return<"OL_ERRC_INVALID_ENUMERATION", ["`PropName` is no property of queues"]>,
    Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is not a queue"]>,
  ];
}

def ol_host_function_cb_t : FptrTypedef {
  let desc = "Is called on the host when a queue comes to it";
  let params = [
    Param<"void*", "UserData", "what olLaunchHostFunction was given", PARAM_IN_OPTIONAL>,
  ];
  let return = "void";
}

def olLaunchHostFunction : Function {
  let desc = "Puts a call of a host function into a queue";
  let details = [
    "The function runs in this process, after the work before it is done; the work after it begins when it has returned.",
    "It must call neither this API nor the driver below it.",
  ];
  let params = [
    Param<"ol_queue_handle_t", "Queue", "the queue", PARAM_IN>,
    Param<"ol_host_function_cb_t", "Callback", "the function", PARAM_IN>,
    Param<"void*", "UserData", "handed to the function as it is", PARAM_IN_OPTIONAL>,
  ];
  let returns = [Return<"OL_ERRC_INVALID_QUEUE", ["`Queue` is not a queue"]>];
}
