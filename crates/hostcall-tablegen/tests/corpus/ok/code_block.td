// A code block keeps its line breaks; it is a string.
def C {
  code Body = [{
    return x + "y";
  }];
  string Same = [{one line}];
  code FromString = "quoted";
}
