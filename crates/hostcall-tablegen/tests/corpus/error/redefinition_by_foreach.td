// A loop makes the same record twice.
foreach i = [1, 2] in
  def Same;
