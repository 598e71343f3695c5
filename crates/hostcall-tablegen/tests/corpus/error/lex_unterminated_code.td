// A code block that ends with the file.
def D { code C = [{ never closed
}
