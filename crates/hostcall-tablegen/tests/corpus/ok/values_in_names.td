// Names of fields may be words that operators and statements use elsewhere.
class A { int append = 1; int prepend = 2; int NAMEs = 3; int in_ = 4; }
def D : A { let append = 5; let prepend = 6; }
