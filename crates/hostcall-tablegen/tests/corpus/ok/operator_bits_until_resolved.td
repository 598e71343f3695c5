// Bits that are those of an operator: it stays in the class, and is resolved in each record.
class Pseudo<int sources> { int NumSrc = sources; }
class Real<Pseudo pseudo> {
  bits<9> Src;
  bits<16> Inst;
  let Inst{15-9} = 0;
  let Inst{8-0} = !if(!gt(pseudo.NumSrc, 1), Src, 0);
}
multiclass Reals<string name> {
  foreach generation = [6, 7] in
    def _g # generation : Real<!cast<Pseudo>(name)>;
}
def Wide : Pseudo<2>;
defm Wide : Reals<"Wide">;
