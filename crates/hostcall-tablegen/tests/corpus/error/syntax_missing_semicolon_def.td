// A record without body or `;`.
class A;
def D : A
def E;
