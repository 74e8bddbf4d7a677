/* SPDX-License-Identifier: MIT
 *
 * experiments.c: the table of published experiments.
 */
#include "experiments.h"

static const experiment experiments[] = {
    {"thesis/untwist", "thesis figs 5.4-5.7, table 5.1", "who is how near after how many iterations",
     experiment_untwist},
};

const experiment *experiment_at(int32_t index)
{
    return index >= 0 && index < (int32_t)(sizeof experiments / sizeof experiments[0]) ? &experiments[index] : NULL;
}
