/* Three calls: one that succeeds, one that a check refuses, and one that the implementation refuses. */
#include <OffloadAPI.h>
#include <stdio.h>

void stub_install(void);

static void report(const char *what, ol_result_t result) {
    if (result == OL_SUCCESS)
        printf("%s: success\n", what);
    else
        printf("%s: %d: %s\n", what, (int)result->Code, result->Details);
}

int main(void) {
    char memory[8] = {0};
    ol_code_location_t location = {"main", "three_calls.c", 20, 5};
    stub_install();
    report("olInit", olInit(NULL));
    report("olMemFill", olMemFillWithCodeLoc(NULL, memory, 0, memory, 8, &location));
    location.LineNumber = 21;
    report("olMemFree", olMemFreeWithCodeLoc(memory, &location));
    return 0;
}
