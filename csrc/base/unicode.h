/* unicode.h - properties and case of characters, from tables made by tools/unicode_tables.py out of one
 * Unicode version and committed, so that a text means the same on every device. */
#ifndef BASE_UNICODE_H
#define BASE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

#define UNICODE_VERSION "15.0.0"

bool unicode_is_space(uint32_t character);      /* White_Space */
bool unicode_is_name_start(uint32_t character); /* Alphabetic or _ */
bool unicode_is_name_part(uint32_t character);  /* Alphabetic, Nd, Nl, No or _ */

bool unicode_is_alphanumeric(uint32_t character); /* Alphabetic, Nd, Nl or No */

/* The lower-case character of one, by itself and without context (SpecialCasing left out). */
uint32_t unicode_lower_character(uint32_t character);

/* Default case mapping of valid text, full (SpecialCasing without languages, final sigma included). */
void unicode_lower(buffer *out, const uint8_t *text, size_t len);
void unicode_upper(buffer *out, const uint8_t *text, size_t len);

#endif
