// An error in an included file: the stack of includes is told.
include "inc/broken.inc"
