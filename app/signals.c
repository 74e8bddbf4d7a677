/* SPDX-License-Identifier: MIT
 *
 * signals.c: SIGINT and SIGTERM end a command at a point where its files are complete.
 */
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "app.h"
#include "signals.h"

/* Number of the received signal; 0: none. */
static volatile sig_atomic_t came;
/* True while a command writes files; before that, a signal may end the program at once. */
static volatile sig_atomic_t deferring;
/* The world whose steps a deferred signal interrupts; NULL: none. */
static _Atomic(sinew_world *) stepped;

static void on_signal(int signal_number)
{
    /* A second signal ends the program at once; a later run can continue from the written files. */
    if (!deferring || came)
        _exit(128 + signal_number);
    came = signal_number;
    sinew_world_interrupt(atomic_load(&stepped));
}

void sinew_watch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void sinew_signals_defer(bool defer)
{
    deferring = defer;
}

void sinew_signals_interrupt(sinew_world *world)
{
    atomic_store(&stepped, world);
}

int sinew_signal_came(void)
{
    return came;
}

int sinew_signal_status(void)
{
    return came == SIGINT ? SINEW_EXIT_INTERRUPTED : SINEW_EXIT_TERMINATED;
}
