/* SPDX-License-Identifier: MIT
 *
 * test_state_file.c: a state file is read back with the same bits; a truncated, damaged or foreign file is refused with
 * the reason.
 */
#include "base/tagged_blob.h"
#include "cache_fixture.h"
#include "failing_malloc.h"
#include "world/world.h"

static void write_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
}

static void refuse_state(sinew_world *world, const char *path, const char *part)
{
    sinew_error error = {0};
    uint64_t before = sinew_world_state_hash(world);
    assert_int_not_equal(sinew_state_read(world, path, &error), SINEW_OK);
    assert_int_equal(sinew_world_state_hash(world), before);
    assert_non_null(strstr(error.text, path));
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void state_round_trip(void **state)
{
    (void)state;
    const char *folder = fresh_folder(IN_SCRATCH("state"));
    const char *path = IN_SCRATCH("state/a.state");
    sinew_error error = {0};
    sinew_world *one = make_world(NULL);
    sinew_world_step(one, NULL);
    set_state(one, 7);
    assert_int_equal(sinew_state_write(one, path, &error), SINEW_OK);
    assert_listing(folder, "a.state");
    sinew_world *two = make_world(NULL);
    assert_true(sinew_world_state_hash(one) != sinew_world_state_hash(two));
    assert_int_equal(sinew_state_read(two, path, &error), SINEW_OK);
    assert_true(sinew_world_state_hash(one) == sinew_world_state_hash(two));
    assert_true(sinew_world_time(one) == sinew_world_time(two));
    sinew_world_destroy(one);
    sinew_world_destroy(two);
}

static void state_refusals(void **state)
{
    (void)state;
    const char *folder = fresh_folder(IN_SCRATCH("state_bad"));
    const char *good = IN_SCRATCH("state_bad/good.state");
    const char *bad = IN_SCRATCH("state_bad/bad.state");
    sinew_error error = {0};
    sinew_world *world = make_world(NULL);
    assert_int_equal(sinew_state_write(world, good, &error), SINEW_OK);
    set_state(world, 3);
    size_t size;
    char *file = slurp(folder, "good.state", &size);

    for (size_t cut = 0; cut < size; cut += cut < 64 ? 1 : 29) {
        write_bytes(bad, file, cut);
        refuse_state(world, bad, cut < 8 ? "is not a sinew state" : "is cut off");
    }
    for (size_t at = 0; at < size; at += at < 64 ? 1 : 13) {
        file[at] ^= 0x10;
        write_bytes(bad, file, size);
        file[at] ^= 0x10;
        refuse_state(world, bad, at < 8 ? "is not a sinew state" : at >= 40 ? "checksum" : "");
    }
    char *longer = calloc(1, size + 5);
    memcpy(longer, file, size);
    write_bytes(bad, longer, size + 5);
    refuse_state(world, bad, "is too long");
    uint32_t other = sizeof(sinew_real) == 8 ? 4 : 8;
    memcpy(longer + 16, &other, sizeof other);
    write_bytes(bad, longer, size);
    refuse_state(world, bad, sizeof(sinew_real) == 8 ? "single precision" : "double precision");
    memcpy(longer, file, size);
    longer[8] = 1;
    write_bytes(bad, longer, size);
    refuse_state(world, bad, "is a state of version 1, this library reads 2; run the scene again");
    free(longer);
    refuse_state(world, path_of(folder, "none.state").text, "No such file");
    refuse_state(world, folder, "regular file");

    /* The state of another world is refused. */
    sinew_world *other_world = empty_world(NULL);
    add_body(other_world, 3, q_rope, 0, NULL, 0, NULL, 2, rope_edges);
    refuse_state(other_world, good, "good.state: belongs to another scene: bodies was 4, is 1");
    assert_int_equal(sinew_state_read_forced(other_world, good, &error), SINEW_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "has 4 bodies, the world has 1"));
    sinew_world_destroy(other_world);
    free(file);
    sinew_world_destroy(world);
}

/* ---- Forged files -------------------------------------------------------------------------------- */

/* A state as a table of sections, split and reassembled with valid checksums. */
typedef struct parts {
    sinew_section sections[32];
    const char *contents[32];
    uint32_t count;
} parts;

static parts take_apart(const char *file)
{
    parts p;
    memcpy(&p.count, file + 20, sizeof p.count);
    assert_true(p.count < 32);
    memcpy(p.sections, file + 40, p.count * sizeof p.sections[0]);
    for (uint32_t i = 0; i < p.count; i++)
        p.contents[i] = file + p.sections[i].offset;
    return p;
}

static void write_parts(const parts *p, const char *path)
{
    static char block[65536];
    sinew_section_writer writer;
    memset(block, 0, sizeof block);
    sinew_sections_begin(&writer, block, p->count);
    for (uint32_t i = 0; i < p->count; i++) {
        sinew_section_begin(&writer, p->sections[i].tag, p->sections[i].flags & 1, p->sections[i].index);
        sinew_section_put(&writer, p->contents[i], p->sections[i].size);
        sinew_section_end(&writer);
    }
    sinew_sections_end(&writer);
    write_bytes(path, block, writer.size);
}

/* A world with every kind of section, and its file split into sections. */
typedef struct forgery {
    sinew_world *world;
    sinew_pin pin;     /* of vertex 3 */
    sinew_energy goal; /* position energy of vertex 2 */
    const char *path;
    char *file;
    parts whole;
} forgery;

static forgery begin_forgery(void)
{
    const char *folder = fresh_folder(IN_SCRATCH("state_forged"));
    forgery f = {.world = make_world(NULL), .path = IN_SCRATCH("state_forged/a.state")};
    sinew_error error = {0};
    sinew_pin_def pin = sinew_default_pin_def();
    pin.vertex_count = 1;
    pin.vertices = (const int32_t[]){3};
    f.pin = sinew_world_add_pins(f.world, &pin, &error);
    assert_true(f.pin.index >= 0);
    sinew_energy_def goal = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    goal.element_count = 1;
    goal.elements = (const int32_t[]){2};
    f.goal = sinew_world_add_energy(f.world, &goal, &error);
    assert_true(f.goal.index >= 0);
    assert_int_equal(sinew_world_set_comment(f.world, "a note"), SINEW_OK);
    assert_int_equal(sinew_state_write(f.world, f.path, &error), SINEW_OK);
    size_t size;
    f.file = slurp(folder, "a.state", &size);
    f.whole = take_apart(f.file);
    return f;
}

static void end_forgery(forgery *f)
{
    free(f->file);
    sinew_world_destroy(f->world);
}

/* Sets every number of every required section to NaN, one after the other. */
static void forged_numbers(void **state)
{
    (void)state;
    forgery f = begin_forgery();
    for (uint32_t i = 0; i < f.whole.count; i++) {
        char content[1024];
        const sinew_section *section = &f.whole.sections[i];
        const bool time = memcmp(section->tag, "TIME", 4) == 0; /* time has 8 bytes in both precisions */
        const size_t bytes = section->size, word = time ? sizeof(double) : sizeof(sinew_real);
        if (!(section->flags & 1))
            continue;
        assert_true(bytes <= sizeof content);
        for (size_t at = 0; at + word <= bytes; at += word) {
            parts p = f.whole;
            memcpy(content, f.whole.contents[i], bytes);
            memset(content + at, 0xff, word);
            p.contents[i] = content;
            write_parts(&p, f.path);
            refuse_state(f.world, f.path, "");
        }
    }
    end_forgery(&f);
}

/* Adds one to every whole number of 32 bits in the sections of targets: numbers of points and of key frames. */
static void forged_counts(void **state)
{
    (void)state;
    forgery f = begin_forgery();
    int forged = 0;
    for (uint32_t i = 0; i < f.whole.count; i++) {
        char content[1024];
        const sinew_section *section = &f.whole.sections[i];
        if (memcmp(section->tag, "PINS", 4) != 0 && memcmp(section->tag, "GOAL", 4) != 0)
            continue;
        assert_true(section->size <= sizeof content);
        for (int word = 0; word < 2; word++) {
            uint32_t number;
            parts p = f.whole;
            memcpy(content, f.whole.contents[i], section->size);
            memcpy(&number, content + 4 * word, sizeof number);
            number++;
            memcpy(content + 4 * word, &number, sizeof number);
            p.contents[i] = content;
            write_parts(&p, f.path);
            refuse_state(f.world, f.path, word ? "points there" : "is moved by key frames or a cache there");
            forged++;
        }
    }
    assert_int_equal(forged, 4);
    end_forgery(&f);
}

/* Targets of one vertex, of a pin and of an energy, are those of the state: the next step has the same bits. */
static void targets_of_one_vertex(void **state)
{
    (void)state;
    forgery f = begin_forgery();
    sinew_error error = {0};
    const sinew_real there[3] = {(sinew_real)0.3, (sinew_real)-0.2, (sinew_real)0.1}, elsewhere[3] = {2, 3, 4};
    assert_int_equal(sinew_pin_set_targets(f.world, f.pin, there, &error), SINEW_OK);
    assert_int_equal(sinew_energy_set_targets(f.world, f.goal, there, &error), SINEW_OK);
    assert_int_equal(sinew_state_write(f.world, f.path, &error), SINEW_OK);
    sinew_world_step(f.world, NULL);
    const uint64_t wanted = sinew_world_state_hash(f.world);
    assert_int_equal(sinew_pin_set_targets(f.world, f.pin, elsewhere, &error), SINEW_OK);
    assert_int_equal(sinew_energy_set_targets(f.world, f.goal, elsewhere, &error), SINEW_OK);
    assert_int_equal(sinew_state_read(f.world, f.path, &error), SINEW_OK);
    sinew_world_step(f.world, NULL);
    assert_true(sinew_world_state_hash(f.world) == wanted);
    sinew_real q[3];
    assert_int_equal(sinew_world_get_positions(f.world, 3, 1, q), SINEW_OK);
    assert_memory_equal(q, there, sizeof q);
    end_forgery(&f);
}

/* Sections are removed, truncated or renamed; an optional one is added. */
static void forged_tables(void **state)
{
    (void)state;
    forgery f = begin_forgery();
    sinew_error error = {0};
    parts p;
    for (uint32_t i = 0; i < f.whole.count; i++) {
        if (!(f.whole.sections[i].flags & 1))
            continue;
        p = f.whole;
        p.count--;
        memmove(p.sections + i, p.sections + i + 1, (p.count - i) * sizeof p.sections[0]);
        memmove(p.contents + i, p.contents + i + 1, (p.count - i) * sizeof p.contents[0]);
        write_parts(&p, f.path);
        refuse_state(f.world, f.path, "");
        p = f.whole;
        p.sections[i].size--;
        write_parts(&p, f.path);
        refuse_state(f.world, f.path, "");
        p = f.whole;
        memcpy(p.sections[i].tag, "CONT", 4);
        write_parts(&p, f.path);
        refuse_state(f.world, f.path, "has a section CONT that this version does not know");
    }
    p = f.whole;
    p.sections[p.count] = (sinew_section){.tag = "LATR", .size = 4};
    p.contents[p.count++] = "abcd";
    write_parts(&p, f.path);
    assert_int_equal(sinew_world_set_comment(f.world, NULL), SINEW_OK);
    assert_int_equal(sinew_state_read(f.world, f.path, &error), SINEW_OK);
    assert_string_equal(sinew_world_comment(f.world), "a note");
    end_forgery(&f);
}

/* ---- Memory of a solver -------------------------------------------------------------------------- */

/* A solver that keeps one number from step to step. */
static double remembered;

static size_t memory_size(const sinew_solve *s)
{
    (void)s;
    return remembered != 0 ? sizeof remembered : 0;
}

static void memory_save(const sinew_solve *s, void *bytes)
{
    (void)s;
    memcpy(bytes, &remembered, sizeof remembered);
}

static bool memory_load(sinew_solve *s, const void *bytes, size_t size)
{
    (void)s;
    if (size != sizeof remembered)
        return false;
    memcpy(&remembered, bytes, sizeof remembered);
    return true;
}

static void solver_memory(void **state)
{
    (void)state;
    const char *folder = fresh_folder(IN_SCRATCH("state_solver"));
    const char *path = IN_SCRATCH("state_solver/a.state");
    sinew_error error = {0};
    sinew_world *world = make_world(NULL);
    sinew_world_step(world, NULL);
    sinew_solver_ops ops = *world->solve.ops;
    ops.state_size = memory_size;
    ops.state_save = memory_save;
    ops.state_load = memory_load;
    world->solve.ops = &ops;

    remembered = 0.7;
    const size_t size = sinew_world_state_size(world);
    assert_int_equal(sinew_state_write(world, path, &error), SINEW_OK);
    remembered = 0;
    assert_true(sinew_world_state_size(world) < size);
    assert_int_equal(sinew_state_read(world, path, &error), SINEW_OK);
    assert_true(remembered == 0.7 && world->solver_changed == 0);

    /* Invalid bytes are refused; those of another solver are ignored. */
    size_t file_size;
    char *file = slurp(folder, "a.state", &file_size);
    parts p = take_apart(file);
    uint32_t at = 0;
    while (memcmp(p.sections[at].tag, "SOLV", 4) != 0)
        at++;
    p.sections[at].size--;
    write_parts(&p, path);
    set_state(world, 3);
    refuse_state(world, path, "newton does not take what it remembered");
    char other[24] = "admm";
    p = take_apart(file);
    p.contents[at] = other;
    write_parts(&p, path);
    remembered = 0.3;
    assert_int_equal(sinew_state_read(world, path, &error), SINEW_OK);
    assert_true(remembered == 0.3 && world->solver_changed != 0); /* the next step prepares again */
    memset(other, 'x', sizeof other);
    write_parts(&p, path);
    refuse_state(world, path, "its solver has no name");
    world->solve.ops = sinew_solver_get_ops(SINEW_SOLVER_NEWTON);
    free(file);
    sinew_world_destroy(world);
}

/* ---- File errors --------------------------------------------------------------------------------- */

static void state_failures(void **state)
{
    (void)state;
    const char *folder = fresh_folder(IN_SCRATCH("state_full"));
    sinew_world *world = make_world(NULL);
    sinew_error error = {0};
    const char *path = IN_SCRATCH("state_full/a.state");
    const size_t size = sinew_world_state_size(world);
    for (rlim_t limit = 0; limit < size; limit += size / 7) {
        struct rlimit before = limit_files(limit);
        sinew_status status = sinew_state_write(world, path, &error);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, SINEW_ERROR_FILE);
        assert_non_null(strstr(error.text, path));
        assert_non_null(strstr(error.text, "File too large"));
        assert_listing(folder, "");
    }
    assert_int_equal(sinew_state_write(world, path_of(folder, "no/a.state").text, &error), SINEW_ERROR_FILE);
    assert_non_null(strstr(error.text, "No such file"));
    assert_int_equal(sinew_state_write(NULL, path, NULL), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_state_read(world, NULL, NULL), SINEW_ERROR_USAGE);
    assert_listing(folder, "");
    /* A symbolic link in place of the unfinished file is not followed. */
    write_bytes(path_of(folder, "victim").text, "untouched", 9);
    assert_int_equal(symlink(path_of(folder, "victim").text, path_of(folder, "a.state.partial").text), 0);
    assert_int_equal(sinew_state_write(world, path, &error), SINEW_OK);
    size_t length;
    char *victim = slurp(folder, "victim", &length);
    assert_string_equal(victim, "untouched");
    free(victim);
    assert_listing(folder, "a.state victim");
    sinew_world_destroy(world);
}

/* Each allocation of writing and reading fails in turn. */
static void state_memory(void **state)
{
    (void)state;
    const char *folder = fresh_folder(IN_SCRATCH("state_memory"));
    const char *path = IN_SCRATCH("state_memory/a.state");
    failing_malloc_install();
    sinew_world *world = make_world(NULL);
    long long before = failing_malloc.alive;
    sinew_status status = SINEW_ERROR_MEMORY;
    for (int n = 1; status != SINEW_OK; n++) {
        assert_listing(folder, "");
        sinew_error error = {0};
        failing_malloc_arm(n, true);
        status = sinew_state_write(world, path, &error);
        failing_malloc_arm(0, true);
        assert_true(n == 1 ? status == SINEW_ERROR_MEMORY : n < 100);
        assert_true(status == SINEW_OK || error.status == SINEW_ERROR_MEMORY);
        assert_int_equal(failing_malloc.alive, before);
    }
    status = SINEW_ERROR_MEMORY;
    for (int n = 1; status != SINEW_OK; n++) {
        sinew_error error = {0};
        failing_malloc_arm(n, true);
        status = sinew_state_read(world, path, &error);
        failing_malloc_arm(0, true);
        assert_true(n == 1 ? status == SINEW_ERROR_MEMORY : n < 100);
        assert_true(status == SINEW_OK || error.status == SINEW_ERROR_MEMORY);
        assert_int_equal(failing_malloc.alive, before);
    }
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_round_trip), cmocka_unit_test(state_refusals), cmocka_unit_test(forged_numbers),
        cmocka_unit_test(forged_tables),    cmocka_unit_test(solver_memory),  cmocka_unit_test(state_failures),
        cmocka_unit_test(state_memory),     cmocka_unit_test(forged_counts),  cmocka_unit_test(targets_of_one_vertex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
