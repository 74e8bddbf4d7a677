/* SPDX-License-Identifier: MIT
 *
 * signals.h: SIGINT and SIGTERM end a command where its files are whole.
 */
#ifndef SINEW_SIGNALS_H
#define SINEW_SIGNALS_H

#include <stdbool.h>

/* From now on a signal is noted while the command is guarded, else it ends the program at once; so does a second one.
 */
void sinew_watch_signals(void);
/* While files are being written: a signal is to end the command at the next good place. */
void sinew_guard_signals(bool guarded);
int sinew_signal_came(void); /* its number, 0: none */
/* SINEW_EXIT_INTERRUPTED or _TERMINATED for the signal that came. */
int sinew_signal_status(void);

#endif
