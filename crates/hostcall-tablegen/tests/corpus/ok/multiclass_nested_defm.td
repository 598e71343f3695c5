// A `defm` in a multiclass: names are joined.
class A<int x> { int X = x; }
multiclass In<int x> { def _l : A<x>; def _h : A<!add(x, 1)>; }
multiclass Out<int x> { defm _in : In<x>; defm "" : In<!mul(x, 10)>; defm NAME # _q : In<0>; def _own : A<99>; }
defm T : Out<4>;
