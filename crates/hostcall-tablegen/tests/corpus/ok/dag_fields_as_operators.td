// A field may give a dag's operator and arguments.
def opA; def opB; def R;
class P { dag Inner = (opA R); dag Outer = (opB Inner, R:$r); }
def D : P;
