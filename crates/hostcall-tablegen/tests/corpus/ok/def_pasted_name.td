// A name may be pasted from pieces.
defvar suffix = "Tail";
def Head # suffix;
foreach i = 0...2 in
  def R # i # "_" # !add(i, 10);
