// A name computed by operators after a paste.
foreach n = ["ab", "cd"] in
  def "N_" # !toupper(n) { string From = n; }
