// `!con` joins dags of the same operator.
def op; def A; def B;
def D { dag One = (op A:$a); dag Two = (op B:$b, 4); dag Both = !con(One, Two, (op)); }
