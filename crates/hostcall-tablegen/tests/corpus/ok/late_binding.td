// A value computed from other fields sees what the record finally says.
class Base {
  string Name = "base";
  string Upper = !toupper(Name);
  int Length = !size(Name);
}
def Left : Base { let Name = "left"; }
def Own : Base { string Lower = "own"; let Name = Lower # "s"; let Lower = "other"; }
