/* SPDX-License-Identifier: MIT
 *
 * registration.h: decides when a program may register its own energies and solvers (sinew/extend.h): one caller at a
 * time, and only before the first world is created, so the tables never change while a world exists. Process-wide.
 */
#ifndef SINEW_SRC_BASE_REGISTRATION_H
#define SINEW_SRC_BASE_REGISTRATION_H

#include <stdbool.h>

void sinew_registration_lock(void); /* locks the registration tables; spins while another caller holds the lock */
void sinew_registration_unlock(void);
void sinew_registration_close(void); /* refuses all later registrations; called when a world is created */
bool sinew_registration_closed(void);

#endif
