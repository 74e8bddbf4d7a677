/* SPDX-License-Identifier: MIT
 *
 * reproduce_main.c: the program `sinew-reproduce`, which contains the experiments. `sinew reproduce` executes this
 * program.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "linear_methods.h"
#include "program.h"
#include "reproduce.h"

int main(int argc, char **argv)
{
    const char *precision;
    /* SIGXFSZ is ignored: exceeding the file size limit then is an error of write(), which the command reports. */
    signal(SIGXFSZ, SIG_IGN);
    if (!sinew_take_precision(&argc, argv, &precision))
        return 2;
    if (precision)
        return sinew_become("reproduce", "sinew-reproduce" SINEW_PROGRAM_OTHER_SUFFIX, argv);
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("sinew-reproduce " SINEW_VERSION " (" SINEW_PRECISION ")\n");
        return sinew_end_output(0);
    }
    /* Registers LU and QR; without these methods, experiments that use them report an error. */
    linear_methods_register();
    return sinew_end_output(sinew_command_reproduce(argc, argv));
}
