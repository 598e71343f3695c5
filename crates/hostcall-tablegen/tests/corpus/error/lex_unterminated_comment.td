// A block comment that ends with the file.
def A;
/* never /* closed */
