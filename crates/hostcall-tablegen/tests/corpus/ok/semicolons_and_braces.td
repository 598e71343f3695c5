// Empty bodies, and statements after each other on a line.
class A {} def B : A {} def C : A; let in_ = 1 in {} foreach i = [1] in {} def E {}
