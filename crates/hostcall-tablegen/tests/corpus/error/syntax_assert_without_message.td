// `assert` needs a message.
assert 1;
