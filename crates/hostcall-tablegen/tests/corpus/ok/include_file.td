// `include` of a file that lies beside this one.
include "inc/shared.inc"
def D : Shared<3>;
