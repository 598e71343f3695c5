// Lists of dags and folds over them.
def op; def P;
def D { list<dag> L = [(op P:$a), (op 1), (op "s":$c)]; dag All = !foldl((op), L, acc, x, !con(acc, x)); int N = !size(All); }
