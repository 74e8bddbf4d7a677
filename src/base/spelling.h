/* SPDX-License-Identifier: MIT
 *
 * spelling.h: words that a person chose from a list.
 */
#ifndef SINEW_SRC_BASE_SPELLING_H
#define SINEW_SRC_BASE_SPELLING_H

#include "sinew/types.h"

/* In the order of sinew_measure and of sinew_record. */
#define SINEW_MEASURE_WORDS "nothing|residual|gap"
#define SINEW_RECORD_WORDS  "none|iterations|step"

/* In the order of sinew_contact_mode and of sinew_contact_surface. */
#define SINEW_CONTACT_MODE_WORDS    "augmented|penalty|projection|half_space"
#define SINEW_CONTACT_SURFACE_WORDS "cage|skin|none"

/* The number of a word in "a|b|c", -1 when it is none of them. */
int32_t sinew_word_index(const char *word, const char *choices);

#endif
