// `bits` needs a width.
class A { bits B; }
