class Op;
def op : Op;
def tree {
  dag d = ([op] 1);
  Op o = !getdagop<Op>(d);
}
