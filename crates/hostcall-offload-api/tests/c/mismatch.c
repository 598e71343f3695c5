/* A program that was compiled with the header of another version than its library's: olInit must say so. */
#include <OffloadAPI.h>
#include <stdio.h>

int main(void) {
    ol_result_t result = olInit(NULL);
    if (result == OL_SUCCESS) {
        printf("it was not noticed\n");
        return 1;
    }
    printf("%d: %s\n", (int)result->Code, result->Details);
    /* It was not started. */
    return olShutDown() == OL_SUCCESS;
}
