// `defset` collects the records defined in it.
class A<int x> { int X = x; }
defset list<A> All = {
  def P : A<1>;
  def Q : A<2>;
  foreach i = [5, 6] in def R # i : A<i>;
}
def Sum { int N = !size(All); list<int> Xs = !foreach(a, All, a.X); list<A> Same = All; }
