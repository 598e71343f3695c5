// A class argument built from a field is resolved when the record is.
class Copy<string s> { string Text = s; }
class Base { string Name = "n"; string Twice = Copy<Name # Name>.Text; }
def D : Base { let Name = "ab"; }
