// Adjacent string literals are one string.
def S {
  string Text = "one " "two "
                "three";
}
