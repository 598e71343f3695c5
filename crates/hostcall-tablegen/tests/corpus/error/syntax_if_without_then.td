// `if` needs `then`.
if 1 def D;
