// What C++'s compiler adds by itself: variables outside of functions with constructors and destructors, such of
// functions, made once whichever thread comes first, `new`, `delete` and methods that a class has not.
#include <pthread.h>
#include <stdio.h>

namespace std {
enum class align_val_t : unsigned long {};
}

struct Named {
  const char *name;
  explicit Named(const char *name) : name(name) { printf("made: %s\n", name); }
  ~Named() { printf("ended: %s\n", name); }
};

static Named before("before main");
static Named also("and also");

struct Shape {
  virtual ~Shape() { puts("a shape less"); }
  virtual int area() const = 0;
};

struct Square : Shape {
  int side;
  explicit Square(int side) : side(side) {}
  int area() const override { return side * side; }
};

struct alignas(256) Wide {
  int values[64];
};

static Named &once() {
  static Named here("by who comes first");
  return here;
}

static void *visit(void *) { return &once(); }

int main() {
  printf("main finds %s\n", before.name);
  pthread_t threads[3];
  void *found[3];
  for (pthread_t &thread : threads) pthread_create(&thread, nullptr, visit, nullptr);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], &found[i]);
  printf("%d %d\n", found[0] == found[1], found[1] == found[2]);
  Shape *shapes[] = {new Square(3), new Square(4)};
  int sum = 0;
  for (Shape *shape : shapes) sum += shape->area();
  for (Shape *shape : shapes) delete shape;
  Wide *wide = new Wide[3]();
  printf("%d %d %d\n", sum, wide[2].values[63], (int)((unsigned long)wide % 256));
  delete[] wide;
  return also.name[0] == 'a' ? 7 : 0;
}
