// One of each kind of value, as JSON sees them.
class A<int v> { int V = v; }
def op; def R : A<1>;
def D {
  bit Bit = 1; bits<3> Bits = { 1, ?, 0 }; int Int = -5; string Str = "q\"\\\n\tz"; code Code = [{x
y}]; list<A> Recs = [R, A<2>];
  dag Dag = (op:$o R:$r, 1, ?:$u); A Rec = R; int Unset; list<string> None = [];
}
