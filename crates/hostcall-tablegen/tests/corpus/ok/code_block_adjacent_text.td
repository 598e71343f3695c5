// Brackets inside a code block do not end it.
def C {
  code Body = [{ a[b[c]] = { d }; ] } ]};
  code Empty = [{}];
}
