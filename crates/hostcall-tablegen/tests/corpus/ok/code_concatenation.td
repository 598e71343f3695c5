// Code blocks joined with strings and with each other.
defvar head = [{begin }];
def D { code A = head # [{end}]; code B = !strconcat([{a}], [{b}]); string S = "s" # [{c}]; code T = [{x}] # "y"; }
