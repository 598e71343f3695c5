// Every escape that a string may hold.
def S {
  string Text = "tab\there, quote \", apostrophe \', backslash \\, line\nfeed";
}
