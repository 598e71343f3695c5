// A `defset` in a `defset`; the records are in both.
class A { int X = 0; }
class B : A { int Y = 1; }
defset list<A> Outer = {
  def P : A;
  defset list<B> Inner = { def Q : B; }
}
def D { list<A> O = Outer; list<B> I = Inner; }
