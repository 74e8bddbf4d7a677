/* SPDX-License-Identifier: MIT
 *
 * test_restore.c: restoring a state into a changed world sets the bodies that the world still has, and nothing else.
 */
#include "base/tagged_blob.h"
#include "random_cases.h"
#include "saved_state.h"

enum {
    ROPES = 4,
    LENGTH = 5
};

typedef struct ropes {
    sinew_world *world;
    sinew_body body[ROPES];
    sinew_energy held[ROPES];
    sinew_pin pin[ROPES];
} ropes;

static void add_rope(ropes *s, int i, int32_t vertices)
{
    sinew_mesh *mesh = make_rope(vertices, (const double[]){0, i, 0}, (const double[]){1, i, 0});
    s->body[i] = add_mesh(s->world, mesh, 1, NULL, NULL);
    add_springs(s->world, s->body[i], 100);
    sinew_energy_def held = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    held.body = s->body[i];
    held.element_count = 1;
    held.elements = (const int32_t[]){1};
    s->held[i] = add_energy(s->world, &held);
    s->pin[i] = add_pins(s->world, s->body[i], (const int32_t[]){0}, 1, NULL);
    sinew_mesh_destroy(mesh);
}

static ropes make_ropes(sinew_solver_kind solver)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(solver);
    ropes s = {.world = make_world(&def)};
    for (int i = 0; i < ROPES; i++)
        add_rope(&s, i, LENGTH);
    return s;
}

static void steps(sinew_world *world, int count)
{
    for (int i = 0; i < count; i++)
        sinew_world_step(world, NULL);
}

/* Moves every pin and target a little, as a caller does. */
static void drag(ropes *s, sinew_real by)
{
    for (int i = 0; i < ROPES; i++) {
        const sinew_real x[3] = {by, (sinew_real)i, 0};
        sinew_pin_set_targets(s->world, s->pin[i], x, NULL);
        sinew_energy_set_targets(s->world, s->held[i], x, NULL);
    }
}

static void positions_of_rope(const ropes *s, int i, sinew_real *q)
{
    assert_int_equal(sinew_world_get_positions(s->world, sinew_body_first_particle(s->world, s->body[i]), LENGTH, q),
                     SINEW_OK);
}

static void assert_report(const sinew_restored *r, int32_t taken, int32_t kept, int32_t dropped)
{
    assert_int_equal(r->taken, taken);
    assert_int_equal(r->kept, kept);
    assert_int_equal(r->dropped, dropped);
}

/* Undo: one body was removed, one took its index, one is new, one got another vertex; two stayed. */
static void undo(void **state)
{
    (void)state;
    ropes s = make_ropes(SINEW_SOLVER_NEWTON);
    sinew_real then[ROPES][3 * LENGTH], now[3 * LENGTH], came[3 * LENGTH];
    drag(&s, (sinew_real)0.1);
    steps(s.world, 3);
    const saved before = save(s.world);
    const sinew_real time = sinew_world_time(s.world);
    for (int i = 0; i < ROPES; i++)
        positions_of_rope(&s, i, then[i]);
    drag(&s, (sinew_real)0.3);
    steps(s.world, 2);
    assert_int_equal(sinew_world_remove_body(s.world, s.body[1], NULL), SINEW_OK);
    add_rope(&s, 1, LENGTH);
    sinew_vertices_def more = sinew_default_vertices_def();
    more.count = 1;
    more.copies_of = (const int32_t[]){LENGTH - 1};
    assert_int_equal(sinew_body_add_vertices(s.world, s.body[3], &more, NULL, NULL), SINEW_OK);
    steps(s.world, 2);
    positions_of_rope(&s, 1, came);

    sinew_restore_report report;
    sinew_error error = {0};
    assert_int_equal(sinew_world_state_load(s.world, before.bytes, before.size, &error), SINEW_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "body 3 has 5 particles there, 6 in the world"));
    assert_int_equal(sinew_world_state_restore(s.world, before.bytes, before.size, &report, &error), SINEW_OK);
    assert_report(&report.bodies, 2, 2, 2);
    assert_report(&report.targets, 3, 1, 1);
    assert_report(&report.pins, 3, 1, 1);
    assert_true(sinew_world_time(s.world) == time && sinew_world_step_count(s.world) == 3);
    for (int i = 0; i < 3; i++) {
        positions_of_rope(&s, i, now);
        assert_memory_equal(now, i == 1 ? came : then[i], sizeof now);
    }
    sinew_world_step(s.world, NULL);
    sinew_real end[3];
    sinew_world_get_positions(s.world, sinew_body_first_particle(s.world, s.body[0]), 1, end);
    assert_true(end[0] == (sinew_real)0.1); /* the pin's target is that of the state */
    free(before.bytes);
    sinew_world_destroy(s.world);
}

/* In an unchanged world restoring equals loading: the same bits follow, including the solver's memory. */
static void whole(void **state)
{
    (void)state;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        if (sinew_get_solver_info((sinew_solver_kind)kind)->static_only)
            continue;
        ropes s = make_ropes((sinew_solver_kind)kind);
        sinew_restore_report report;
        steps(s.world, 3);
        const saved before = save(s.world);
        steps(s.world, 3);
        const uint64_t hash = sinew_world_state_hash(s.world);
        assert_int_equal(sinew_world_state_restore(s.world, before.bytes, before.size, &report, NULL), SINEW_OK);
        assert_report(&report.bodies, ROPES, 0, 0);
        assert_report(&report.targets, ROPES, 0, 0);
        assert_report(&report.pins, ROPES, 0, 0);
        steps(s.world, 3);
        assert_true(sinew_world_state_hash(s.world) == hash);
        free(before.bytes);
        sinew_world_destroy(s.world);
    }
}

/* The state with the last bytes of its generations cut off, and valid checksums. */
static saved shorten_generations(const saved *from, size_t cut)
{
    uint32_t count;
    sinew_section_writer writer;
    saved s = {.bytes = make_array(from->size, 1)};
    memcpy(&count, from->bytes + 20, sizeof count);
    sinew_sections_begin(&writer, s.bytes, count);
    for (uint32_t i = 0; i < count; i++) {
        sinew_section section;
        memcpy(&section, from->bytes + 40 + i * sizeof section, sizeof section);
        const bool here = memcmp(section.tag, "GENS", 4) == 0;
        sinew_section_begin(&writer, section.tag, section.flags & 1, section.index);
        sinew_section_put(&writer, from->bytes + section.offset, (size_t)section.size - (here ? cut : 0));
        sinew_section_end(&writer);
    }
    sinew_sections_end(&writer);
    s.size = writer.size;
    assert_int_equal(s.size, from->size - cut);
    return s;
}

/* A changed world saves generations of its ids. A world with the same history loads the state; a state with damaged
 * generations restores nothing. */
static void generations(void **state)
{
    (void)state;
    ropes s = make_ropes(SINEW_SOLVER_NEWTON), t = make_ropes(SINEW_SOLVER_NEWTON);
    assert_int_equal(sinew_world_remove_body(s.world, s.body[0], NULL), SINEW_OK);
    add_rope(&s, 0, LENGTH);
    steps(s.world, 2);
    const saved changed = save(s.world);
    sinew_restore_report report;
    sinew_error error = {0};
    assert_int_equal(sinew_world_state_restore(t.world, changed.bytes, changed.size, &report, NULL), SINEW_OK);
    assert_report(&report.bodies, ROPES - 1, 1, 1);
    assert_int_equal(sinew_world_state_load(t.world, changed.bytes, changed.size, &error), SINEW_OK);
    assert_true(sinew_world_state_hash(t.world) == sinew_world_state_hash(s.world));
    steps(s.world, 1);
    steps(t.world, 1);
    assert_true(sinew_world_state_hash(t.world) == sinew_world_state_hash(s.world));

    for (size_t cut = 1; cut <= 2 * sizeof(uint32_t); cut++) {
        const saved bad = shorten_generations(&changed, cut);
        const uint64_t hash = sinew_world_state_hash(t.world);
        assert_int_equal(sinew_world_state_restore(t.world, bad.bytes, bad.size, NULL, &error), SINEW_ERROR_FORMAT);
        assert_non_null(strstr(error.text, "generation"));
        assert_true(sinew_world_state_hash(t.world) == hash);
        free(bad.bytes);
    }
    free(changed.bytes);
    sinew_world_destroy(s.world);
    sinew_world_destroy(t.world);
}

/* A state with randomly changed bytes is refused, and the world stays unchanged. */
static void damaged(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("damaged states", 300, 20000);
    ropes s = make_ropes(SINEW_SOLVER_ADMM);
    assert_int_equal(sinew_world_remove_body(s.world, s.body[2], NULL), SINEW_OK);
    add_rope(&s, 2, LENGTH);
    steps(s.world, 2);
    const saved good = save(s.world);
    steps(s.world, 1);
    const uint64_t hash = sinew_world_state_hash(s.world);
    for (int32_t i = 0; i < r.count; i++) {
        sinew_error error = {0};
        char *at = good.bytes + random_index(&r, (int)good.size);
        const char kept = *at;
        *at = (char)(*at ^ (1 << random_index(&r, 8)));
        assert_int_not_equal(sinew_world_state_restore(s.world, good.bytes, good.size, NULL, &error), SINEW_OK);
        assert_true(error.text[0] && sinew_world_state_hash(s.world) == hash);
        *at = kept;
    }
    free(good.bytes);
    sinew_world_destroy(s.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(undo), cmocka_unit_test(whole), cmocka_unit_test(generations),
                                       cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
