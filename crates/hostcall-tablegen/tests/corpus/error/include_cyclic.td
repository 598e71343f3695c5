// A file that includes itself.
include "inc/cycle_a.inc"
