/* decode/schema/schema_formats.h: the values of "format", as patterns: each makes only texts that obey the format, not all of
 * them. */
#ifndef DECODE_SCHEMA_SCHEMA_FORMATS_H
#define DECODE_SCHEMA_SCHEMA_FORMATS_H

#define SCHEMA_FORMATS "date, time, date-time, duration, email, uuid, ipv4, hostname, uri"

/* NULL: no such format. */
const char *schema_format(const char *name);

#endif
