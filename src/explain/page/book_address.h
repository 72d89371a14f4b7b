/* explain/page/book_address.h: which addresses of the book a page may link to. */
#ifndef EXPLAIN_PAGE_BOOK_ADDRESS_H
#define EXPLAIN_PAGE_BOOK_ADDRESS_H

#include "rapt/base.h"

/* RAPT_ERR_VALUE, with what an address must be: it would run a script, or it is no address. Callers that compute a pass check it
 * before. */
rapt_code book_address_check(const char *address, rapt_error *err);

#endif
