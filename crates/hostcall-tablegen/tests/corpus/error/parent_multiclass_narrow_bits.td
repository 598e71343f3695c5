class A<bits<8> b> { bits<8> B = b; int I = b; }
multiclass P<bits<8> b> { def _p : A<b>; }
multiclass C<bits<4> x> : P<x> { def _c; }
defm D : C<3>;
