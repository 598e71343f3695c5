// A file is read as often as it is included; a guard stops that.
include "inc/guarded.inc"
include "inc/guarded.inc"
def D : Guarded;
