/* SPDX-License-Identifier: MIT
 *
 * test_stiff_rope.c: springs that are stiffer than the precision of a number resolves. A rope that is held at one end
 * swings down for 0.4 s; for any stiffness its tail ends at y = -0.795 m. A solver reaches this within 1 %, or the
 * status of some step reports that it did not.
 */
#include "make_world.h"
#include "sinew/scene.h"

#define TAIL -0.795

/* Returns the status of all steps combined; *y receives the final height of the tail. */
static uint32_t swing(const char *solver, const char *stiffness, double *y)
{
    char name[64], spring[64];
    snprintf(name, sizeof name, "solver.name=\"%s\"", solver);
    snprintf(spring, sizeof spring, "bodies.0.energies.0.stiffness=%s", stiffness);
    const char *settings[] = {name, spring, "threads=1", "solver.measure=\"gap\""};
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_SOURCE_DIR "/scenes/swinging_rope.json";
    def.settings = settings;
    def.setting_count = 4;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    must(&error);
    sinew_world *world = sinew_scene_world(scene);
    uint32_t bits = 0;
    for (int i = 0; i < 20 * sinew_scene_steps_per_frame(scene); i++)
        bits |= sinew_world_step(world, NULL);
    sinew_real tail[3];
    sinew_world_get_positions(world, sinew_world_particle_count(world) - 1, 1, tail);
    *y = (double)tail[1];
    sinew_scene_destroy(scene);
    return bits;
}

static void tail_is_right_or_the_status_says_so(void **state)
{
    (void)state;
    static const char *const stiffness[] = {"1e9", "1e12", "1e16", "1e20", "1e30"};
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        for (size_t i = 0; i < sizeof stiffness / sizeof stiffness[0] && !info->static_only; i++) {
            double y;
            const uint32_t bits = swing(info->name, stiffness[i], &y);
            printf("%-8s k = %s: y = %.4f m, bits %x\n", info->name, stiffness[i], y, (unsigned)bits);
            if (bits == 0 && !(fabs(y - TAIL) <= 0.01 * -TAIL))
                fail_msg("%s, k = %s: the tail is at %g m and the status says ok", info->name, stiffness[i], y);
        }
    }
}

/* Newton's method in double follows springs with a stiffness of a billion times the rope's weight. */
static void newton_follows(void **state)
{
    (void)state;
    double y;
    const uint32_t bits = swing("newton", "1e9", &y);
    if (sizeof(sinew_real) == 8) {
        assert_int_equal(bits, 0);
        assert_true(fabs(y - TAIL) <= 0.01 * -TAIL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tail_is_right_or_the_status_says_so),
                                       cmocka_unit_test(newton_follows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
