// `!eq` of things that cannot be compared.
def D { bit B = !eq("a", 1); }
