/* SPDX-License-Identifier: MIT
 *
 * extended_command.c: the commands info, run and compare with the energy and the solver of examples/extend registered.
 * test_extend.sh checks that they list and run registered extensions like the library's own.
 */
#include <stdio.h>
#include <string.h>

#include "../examples/extend/extend.h"
#include "../app/app.h"

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {{"info", sinew_command_info}, {"run", sinew_command_run}, {"compare", sinew_command_compare}};
    const sinew_energy_extension energy = fibre_energy();
    const sinew_solver_extension solver = descent_solver();
    sinew_error error;
    if (sinew_register_energy(&energy, &error) == SINEW_ENERGY_COUNT ||
        sinew_register_solver(&solver, &error) == SINEW_SOLVER_COUNT) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return 2;
}
