/* SPDX-License-Identifier: MIT
 *
 * signals.c: SIGINT and SIGTERM end a command where its files are whole.
 */
#include <signal.h>
#include <unistd.h>

#include "app.h"
#include "signals.h"

/* The number of the signal that came. */
static volatile sig_atomic_t came;
/* Files are being written. Before that there is nothing to lose. */
static volatile sig_atomic_t guard;

static void on_signal(int signal_number)
{
    /* A second one ends the program at once: what it has written can be gone on with. */
    if (!guard || came)
        _exit(128 + signal_number);
    came = signal_number;
}

void sinew_watch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void sinew_guard_signals(bool guarded)
{
    guard = guarded;
}

int sinew_signal_came(void)
{
    return came;
}

int sinew_signal_status(void)
{
    return came == SIGINT ? SINEW_EXIT_INTERRUPTED : SINEW_EXIT_TERMINATED;
}
