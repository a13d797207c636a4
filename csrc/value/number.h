/* number.h - decimal text of floating point numbers, exact both ways and free of the locale. */
#ifndef VALUE_NUMBER_H
#define VALUE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_DIGITS_MAX 20
#define NUMBER_PLAIN_MAX 350 /* bytes of the longest double in plain notation (-5e-324) */

/* The shortest digits d and exponent e with d x 10^e = f when read back as a double (a float); f finite
 * and not 0. Digits as a whole number that does not end in 0; the sign of f is left out. */
void number_shortest(double f, uint64_t *digits, int *exponent);
void number_shortest32(float f, uint64_t *digits, int *exponent);

/* A finite number in plain notation, no exponent, "-" for a negative one (-0 too). Answers the length. */
size_t number_write(char out[NUMBER_PLAIN_MAX], double f);
size_t number_write32(char out[NUMBER_PLAIN_MAX], float f);

/* The decimal digits of n, no NUL. Answers the length. */
size_t number_write_digits(char out[NUMBER_DIGITS_MAX], uint64_t n);

/* text[0..len) = [-]digits[.digits][e[+-]digits], checked by the caller, correctly rounded (once). False
 * where it is not finite. */
bool number_read(const char *text, size_t len, double *out);
bool number_read32(const char *text, size_t len, float *out);

/* [-]digits into 64 bits; false where it does not fit. */
bool number_read_int(const char *text, size_t len, int64_t *out);

/* Rounding to half precision, nearest even; above 65519.99 infinite. */
uint16_t number_to_half(float f);
float number_from_half(uint16_t h);

#endif
