/* base/rows.h: tables with a row for each enumerator of a public list, such as RAPT_FFN_KINDS of rapt/nn.h. A
 * table of another length than its list does not compile, so an enumerator that is appended needs a row. */
#ifndef BASE_ROWS_H
#define BASE_ROWS_H

#define ROWS_ONE(...) +1

/* How many enumerators a list has. */
#define ROWS_OF(LIST) (0 LIST(ROWS_ONE))

/* `less`: enumerators at the end of the list that have no row. */
#define ROWS_FIT(table, LIST, less) \
    _Static_assert(sizeof(table) / sizeof *(table) == ROWS_OF(LIST) - (less), #table " has another length than " #LIST)

#endif
