/* SPDX-License-Identifier: MIT
 *
 * test_allocation.c: allocation failures. Every scene of scenes/ is read, prepared, stepped and written while the n-th
 * allocation fails, for n = 1, 2, ... up to the number of allocations of a run. Each run reports that memory ran out,
 * reports an unfinished step, or finds the minimum of the undisturbed run; every run frees all blocks. (Newton's method
 * treats a factorisation without memory as failed and continues with another matrix to the same minimum.)
 *
 * The first few allocations of a scene are all visited, the later ones with a stride from a random start, so that a
 * scene costs 28 runs, or 80 with SINEW_NIGHTLY=1.
 */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "linear_methods.h"
#include "random_cases.h"
#include "sinew/scene.h"

enum {
    SCENES_MAX = 64,
    PARTICLES_MAX = 20000,
};

#ifdef SINEW_SINGLE
static const double near = 1e-3; /* m: distance of two minima that the solver tolerance allows */
#else
static const double near = 1e-6;
#endif

typedef struct outcome {
    sinew_status status;
    char text[1024];
    uint32_t bits; /* status bits of the step */
    int32_t particle_count;
    sinew_real q[3 * PARTICLES_MAX]; /* positions after the step */
} outcome;

static random_cases cases; /* limits the number of runs per scene */

static void failed(outcome *result, sinew_status status, const char *text)
{
    result->status = status;
    snprintf(result->text, sizeof result->text, "%s", text);
}

/* Writes one frame in every format. */
static sinew_status write_caches(sinew_world *world, sinew_error *error)
{
    for (int format = 0; format < SINEW_CACHE_COUNT; format++) {
        sinew_cache_def def = sinew_default_cache_def();
        def.world = world;
        def.directory = SINEW_TEST_DIR;
        def.name = "frame";
        def.format = (sinew_cache_format)format;
        def.frame_count = 1;
        def.frame_time = 1;
        sinew_cache *cache = sinew_cache_open(&def, error);
        if (!cache)
            return error->status;
        if (sinew_cache_frame(cache, error) != SINEW_OK) {
            sinew_cache_drop(cache);
            return error->status;
        }
        if (sinew_cache_close(cache, error) != SINEW_OK)
            return error->status;
    }
    return SINEW_OK;
}

/* Reads the scene, steps once, writes caches and destroys the world. */
static void run_scene(const char *path, const char *setting, outcome *result)
{
    sinew_error error = {.status = SINEW_OK};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    def.settings = &setting;
    def.setting_count = setting != NULL;
    result->status = SINEW_OK;
    result->text[0] = '\0';
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene) {
        failed(result, error.status, error.text);
        return;
    }
    sinew_world *world = sinew_scene_world(scene);
    result->bits = sinew_world_step(world, NULL);
    result->particle_count = sinew_world_particle_count(world);
    assert_true(result->particle_count <= PARTICLES_MAX);
    if (result->bits & SINEW_STEP_UNPREPARED)
        failed(result, SINEW_ERROR_MEMORY, sinew_world_error(world));
    else if (write_caches(world, &error) != SINEW_OK)
        failed(result, error.status, error.text);
    else
        sinew_world_get_positions(world, 0, result->particle_count, result->q);
    sinew_scene_destroy(scene);
}

static double distance(const outcome *a, const outcome *b)
{
    double max = 0;
    for (int32_t i = 0; i < 3 * a->particle_count; i++)
        max = fmax(max, fabs((double)a->q[i] - (double)b->q[i]));
    return max;
}

/* Runs the scene while its n-th allocation fails, alone or with all later ones. */
static void fail_one(const char *path, const char *setting, long long n, bool only_first, const outcome *reference)
{
    static outcome result;
    long long alive = atomic_load(&failing_malloc.alive);
    failing_malloc_arm(n, only_first);
    run_scene(path, setting, &result);
    failing_malloc_arm(0, true);
    if (result.status == SINEW_OK && result.bits == reference->bits && distance(&result, reference) > near)
        fail_msg("%s: another result, by %g m, when allocation %lld fails", path, distance(&result, reference), n);
    if (result.status != SINEW_OK && (result.status != SINEW_ERROR_MEMORY || !strstr(result.text, "memory")))
        fail_msg("%s, allocation %lld: %s error \"%s\" does not say that memory ran out", path, n,
                 sinew_status_name(result.status), result.text);
    if (atomic_load(&failing_malloc.alive) != alive)
        fail_msg("%s: %lld blocks lost when allocation %lld fails%s (\"%s\")", path,
                 atomic_load(&failing_malloc.alive) - alive, n, only_first ? "" : " and all after it", result.text);
}

/* Fails the allocations of a scene one after the other; `setting` may be NULL. */
static void sweep(const char *path, const char *setting)
{
    static outcome reference;
    run_scene(path, setting, &reference); /* also makes the allocations that a process makes once */
    failing_malloc_arm(0, true);
    run_scene(path, setting, &reference);
    long long count = atomic_load(&failing_malloc.asked);
    if (reference.status != SINEW_OK)
        fail_msg("%s: %s", path, reference.text);
    const long long every = cases.count / 2;
    assert_true(count > every);

    long long stride = (count - every) / (cases.count - every) + 1, runs = 0;
    const long long skipped = random_index(&cases, (int)stride);
    for (long long n = 1; n <= count; n += n < every ? 1 : n == every ? 1 + skipped : stride, runs++)
        fail_one(path, setting, n, runs % 2 == 0, &reference);
    print_message("%s%s%s: %lld allocations, %lld of them failed in turn\n", path, setting ? " with " : "",
                  setting ? setting : "", count, runs);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void test_every_scene(void **state)
{
    (void)state;
    static char paths[SCENES_MAX][1024];
    size_t count = 0;
    DIR *folder = opendir(SINEW_SOURCE_DIR "/scenes");
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry && count < SCENES_MAX; entry = readdir(folder)) {
        const char *ending = strrchr(entry->d_name, '.');
        if (ending && strcmp(ending, ".json") == 0)
            snprintf(paths[count++], sizeof paths[0], SINEW_SOURCE_DIR "/scenes/%s", entry->d_name);
    }
    closedir(folder);
    assert_true(count > 0);
    qsort(paths, count, sizeof paths[0], compare_names);
    random_cases draw = random_cases_begin("scenes whose allocations fail", 6, (int32_t)count);
    for (int k = 0; k < draw.count && k < (int)count; k++) {
        const int other = k + random_index(&draw, (int)count - k);
        sweep(paths[other], NULL);
        memcpy(paths[other], paths[k], sizeof paths[k]);
    }
}

/* UMFPACK and SPQR allocate through their own hooks in every factorisation. */
static void test_lu_and_qr(void **state)
{
    (void)state;
    if (!linear_methods_register())
        skip();
    sweep(SINEW_SOURCE_DIR "/scenes/hanging_bar.json", "solver.linear=lu");
    sweep(SINEW_SOURCE_DIR "/scenes/hanging_bar.json", "solver.linear=qr");
}

int main(void)
{
    cases = random_cases_begin("allocations of a scene that fail", 28, 80);
    failing_malloc_install();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_scene), cmocka_unit_test(test_lu_and_qr)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
