// A digit and `x` begin a hexadecimal number, not a name.
class C;
def 2x4 : C;
