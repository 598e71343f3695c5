// A list may be the operator of a dag.
class Op;
def op : Op;
def op2 : Op;
def tree {
  dag one = ([op] 1);
  dag two = ([op, op2] 1, 2);
  dag named = ([op]:$n 1:$a, (op 3):$b);
  dag bare = ([op]);
  dag typed = ([op, op2]<Op>);
  dag empty = ([]<Op> 1);
  dag numbers = ([1, 2] 3);
  dag element = ([op, op2][1] 1);
  dag slice = ([op, op2][0,] 1);
  dag joined = ([op] # [op2] 3);
  dag trailing = ([op,] 3);
  dag texts = (["x"] 3);
  dag lists = ([[op], [op2]] 3);
  dag argument = (op 1, [op]:$y);
  dag replaced = !setdagop(two, op2);
  dag renamed = !setdagopname(two, "m");
  dag built = !dag([op], [1], ?);
  dag each = !foreach(x, two, x);
  int size = !size(two);
  int second = !getdagarg<int>(two, 1);
  string shown = !repr(two);
}
class Of<list<Op> ops, Op last> {
  dag whole = (ops 3);
  dag part = ([op, last] 4);
  dag bound = ([last]:$x ops);
}
def of : Of<[op, op2], op2>;
multiclass Each<list<Op> ops> {
  def _d { dag d = (ops 1); dag e = ([op, ops[0]] 2); }
}
defm each : Each<[op2]>;
