// An included file that is nowhere.
include "nowhere.inc"
