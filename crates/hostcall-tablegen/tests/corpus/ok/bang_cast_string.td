// `!cast<string>` of integers and of records.
class A; def X : A;
def D { string S = !cast<string>(X); string T = !cast<string>(42); string U = !cast<string>("s"); }
