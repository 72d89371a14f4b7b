/* serve/module/language_names.h: English names of languages by their codes, for lists that people choose from. */
#ifndef SERVE_MODULE_LANGUAGE_NAMES_H
#define SERVE_MODULE_LANGUAGE_NAMES_H

/* The name of a language by its code of ISO 639-1 or 639-3; the case of the code, and a script or region behind it ("deu_Latn",
 * "en-US"), do not matter. The code itself if the list has no name. */
const char *language_name(const char *code);

#endif
