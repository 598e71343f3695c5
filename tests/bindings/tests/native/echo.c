/* Every value of `rows.h`, which Rust has encoded, through the accessors of `echo.h` and back. */
#include "library.h"

#include "echo.h"
#include "rows.h"

/* Reads each row's argument `x`, hands it to `PUT`, and compares the units that this writes. */
#define ECHO(NAME, RESULT, PUT)                                                                                             \
  do {                                                                                                                     \
    static uint32_t results[NAME##_COUNT][NAME##_UNITS];                                                                   \
    const hc_lanes lanes = message_of(NAME##_COUNT, &NAME##_rows[0][0], NAME##_UNITS, &results[0][0], NAME##_UNITS);        \
    memset(results, 0xff, sizeof(results));                                                                                 \
    for (uint32_t lane = 0; lane < NAME##_COUNT; lane++) {                                                                 \
      Echo__##NAME##_arguments a;                                                                                          \
      CHECK(Echo__##NAME##_get(&lanes, NULL, lane, &a) == HC_OK);                                                           \
      RESULT;                                                                                                              \
      Echo__##NAME##_put(&lanes, lane, PUT);                                                                               \
    }                                                                                                                      \
    CHECK(memcmp(results, NAME##_rows, sizeof(results)) == 0);                                                              \
    CHECK(Echo__##NAME##_definition.units == NAME##_UNITS && Echo__##NAME##_definition.reply_units == NAME##_UNITS);        \
  } while (0)
#define VALUE(NAME) ECHO(NAME, (void)0, a.x)
/* The argument's struct has the members of the result's. */
#define MEMBERS(NAME)                                            \
  ECHO(NAME, Echo__##NAME##_result r; CHECK(sizeof(r) == sizeof(a.x)); memcpy(&r, &a.x, sizeof(r)), &r)

/* The arguments of the first row of a function. */
#define FIRST(NAME)                                                                            \
  Echo__##NAME##_arguments NAME;                                                               \
  const hc_lanes NAME##_lanes = message_of(1, &NAME##_rows[0][0], NAME##_UNITS, NULL, 0);       \
  CHECK(Echo__##NAME##_get(&NAME##_lanes, NULL, 0, &NAME) == HC_OK)

/* Units that are no value. */
#define BAD(NAME)                                                                                                           \
  do {                                                                                                                      \
    const hc_lanes lanes = message_of(NAME##_BAD_COUNT, &NAME##_bad[0][0], NAME##_UNITS, NULL, 0);                          \
    for (uint32_t lane = 0; lane < NAME##_BAD_COUNT; lane++) {                                                              \
      Echo__##NAME##_arguments a;                                                                                           \
      const unsigned before = library.malformed;                                                                            \
      CHECK(Echo__##NAME##_get(&lanes, NULL, lane, &a) == HC_MALFORMED && library.malformed == before + 1);                 \
    }                                                                                                                       \
  } while (0)

int main(void) {
  VALUE(alone);
  VALUE(wide);
  VALUE(small);
  VALUE(truth);
  ECHO(pair, (void)0, &a.x);
  MEMBERS(numbers);
  MEMBERS(letters);
  MEMBERS(bytes);
  MEMBERS(maybe);
  MEMBERS(same);
  MEMBERS(either);
  MEMBERS(nothing);

  FIRST(numbers);
  CHECK(numbers.x._0 == 200 && numbers.x._1 == -300 && numbers.x._2 == 4000000000u && numbers.x._3 == INT64_MIN);
  CHECK(numbers.x._4 == 1.5f && numbers.x._5 == -0.1);
  FIRST(letters);
  CHECK(letters.x._0 && letters.x._1 == 0xdf);
  FIRST(maybe);
  CHECK(maybe.x.has && maybe.x.value._0 == 7 && maybe.x.value._1.has && maybe.x.value._1.value == (UINT64_C(1) << 40));
  FIRST(same);
  CHECK(same.x.ok && same.x.value == 5);
  FIRST(either);
  CHECK(!either.x.ok && either.x.error._0 == UINT64_MAX && either.x.error._1);
  FIRST(nothing);
  CHECK(nothing.x.ok);
  FIRST(pair);
  CHECK(pair.x.wide == 2.5 && pair.x.small[2] == 3 && pair.x.new_ == 65535);

  BAD(truth);
  BAD(letters);
  BAD(maybe);
  BAD(either);

  uint32_t result[2];
  const hc_lanes lanes = message_of(1, &mixed_rows[0][0], mixed_UNITS, result, 2);
  Echo__mixed_arguments a;
  CHECK(Echo__mixed_get(&lanes, NULL, 0, &a) == HC_OK);
  CHECK(a.text_count == 6 && memcmp(a.text, library.text, 6) == 0 && a.numbers_count == 3 && a.back_count == 4);
  uint64_t sum = a.a + a.text_count + (a.b.has ? a.b.value : 0);
  for (size_t i = 0; i < a.numbers_count; i++) sum += a.numbers[i];
  a.back[0] = a.a;
  a.back[1] = (uint16_t)a.back_count;
  CHECK(Echo__mixed_back_returned(NULL, 0, 2) == HC_OK && library.returned == 4);
  CHECK(library.back[0] == 9 && library.back[1] == 4);
  Echo__mixed_put(&lanes, 0, sum);
  CHECK(memcmp(result, mixed_result, sizeof(result)) == 0);
  CHECK(Echo__mixed_definition.takes_var == 1 && Echo__mixed_definition.variable_count == 3);
  CHECK(Echo__mixed_definition.variables[0].kind == HC_TEXT && Echo__mixed_definition.variables[0].unit == 3);
  CHECK(Echo__mixed_definition.variables[2].kind == HC_OUT && Echo__mixed_definition.variables[2].element_bytes == 2);
  CHECK(Echo__post_definition.reply_units == HC_POSTED && Echo__wait_definition.reply_units == 0);
  CHECK(Echo__post_definition.signature == post_SIGNATURE && Echo__mixed_definition.signature == mixed_SIGNATURE);
  return 0;
}
