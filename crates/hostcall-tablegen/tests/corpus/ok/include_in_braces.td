// `include` may stand where a statement may.
class Body { int X = 1; }
let X = 4 in {
include "inc/body.inc"
}
