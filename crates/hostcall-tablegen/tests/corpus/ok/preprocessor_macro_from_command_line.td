// `-D` defines a macro.
// ARGS: -DFROM_COMMAND_LINE
#ifdef FROM_COMMAND_LINE
def Given;
#else
def NotGiven;
#endif
