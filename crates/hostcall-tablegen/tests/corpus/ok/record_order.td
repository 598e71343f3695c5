// Records are listed as LLVM's back ends see them: runs of digits are numbers, and a shorter run is first.
class C;
foreach name = ["A", "A1", "A1B", "A1B2", "A1B10", "A2", "A9", "A10", "A11", "A007", "A010", "AA", "A_1", "A_20", "a", "a0"] in
  def name : C;
def all { list<C> every = !instances<C>(); list<C> some = !instances<C>("1"); }
