// How operators over unknown dags are printed.
class R; def op;
class A<dag d, R r, int n, list<int> l, list<string> names> {
  dag Con = !con(d, (op 1)); dag Made = !dag(op, l, names); dag Lit = (op r:$r, n, (op d):$nested); dag WithOp = !setdagop(d, op); R Op = !getdagop<R>(d); dag Again = (op (!getdagop(d) 1));
  int Arg = !getdagarg<int>(d, 0); int Named = !getdagarg<int>(d, "x"); string Name = !getdagname(d, n); dag SetArg = !setdagarg(d, 0, n); dag SetName = !setdagname(d, 0, "x");
  string OpName = !getdagopname(d); dag SetOpName = !setdagopname(d, "o"); int Size = !size(d); bit Empty = !empty(d);
}
