// Strings and code are one type.
class A<code c> { string S = c; } class B<string s> { code C = s; }
def D : A<"str">; def E : B<[{code}]>;
