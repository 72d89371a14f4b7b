/* base/number.h: numbers as text and back, with a point in every locale. For recipes, JSON and messages. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#define NUMBER_TEXT 32

/* The fewest digits that read back as `value`: "0.1", "1e-05", "1000000". */
void number_write(double value, char text[NUMBER_TEXT]);

/* As printf writes it with %.*f, and with %.*g; what does not fit is cut. */
void number_write_fixed(double value, int decimals, char text[NUMBER_TEXT]);
void number_write_digits(double value, int digits, char text[NUMBER_TEXT]);

/* strtod in the C locale. */
double number_read(const char *text, char **end);

#endif
