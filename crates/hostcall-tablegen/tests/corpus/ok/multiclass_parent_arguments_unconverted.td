// Arguments for a multiclass's parent are not converted to its types; those in a `defm` are.
class A<int x> { int X = x; }
multiclass Base<bits<5> b> { if !eq(b, -1) then def _minus; else def _other; def _a : A<b>; }
multiclass Child : Base<-1> { def _own; }
multiclass Inner { defm _in : Base<-1>; }
defm One : Child;
defm Two : Base<-1>;
defm Three : Inner;
