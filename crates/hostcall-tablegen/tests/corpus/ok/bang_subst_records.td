// Replacing records, also inside dags and by `!foreach`.
class A; def op; def P : A; def Q : A; def R : A;
def D { A X = !subst(P, Q, P); A Y = !subst(P, Q, R); dag E = !foreach(v, (op P, R, P), !subst(P, Q, v)); }
