/* SPDX-License-Identifier: MIT
 *
 * spelling.h: keywords of public lists, and the lookup of a keyword.
 */
#ifndef SINEW_SRC_BASE_SPELLING_H
#define SINEW_SRC_BASE_SPELLING_H

#include "sinew/types.h"

/* Keywords separated by |, in the order of the enums sinew_measure and sinew_record. */
#define SINEW_MEASURE_NAMES "nothing|residual|gap|auto"
#define SINEW_RECORD_NAMES  "none|iterations|step"

/* Keywords separated by |, in the order of the enums sinew_contact_mode and sinew_contact_surface. */
#define SINEW_CONTACT_MODE_NAMES    "augmented|penalty|projection|half_space"
#define SINEW_CONTACT_SURFACE_NAMES "cage|skin|none"

/* Index of `word` in the list of choices "a|b|c"; -1 if it is not in the list. */
int32_t sinew_keyword_index(const char *word, const char *choices);

#endif
