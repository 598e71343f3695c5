// A loop over nothing makes nothing.
defvar none = []<int>;
foreach i = none in def Never;
def Always;
