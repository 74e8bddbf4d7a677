/* SPDX-License-Identifier: MIT
 *
 * signals.h: SIGINT and SIGTERM end a command at a point where its files are complete.
 */
#ifndef SINEW_SIGNALS_H
#define SINEW_SIGNALS_H

#include <stdbool.h>

#include "sinew/sinew.h"

/* Installs the handlers of SIGINT and SIGTERM. A signal is recorded while the command defers signals, and else ends the
 * program at once. A second signal also ends the program at once. */
void sinew_watch_signals(void);
/* Defers signals while files are being written: a signal ends the command at the next point with complete files. */
void sinew_signals_defer(bool defer);
/* Interrupts the steps of a world on a deferred signal (sinew_world_interrupt()). NULL: none, before the world is
 * destroyed. */
void sinew_signals_interrupt(sinew_world *world);
int sinew_signal_came(void); /* number of the received signal, 0: none */
/* Exit status for the received signal: SINEW_EXIT_INTERRUPTED or SINEW_EXIT_TERMINATED. */
int sinew_signal_status(void);

#endif
