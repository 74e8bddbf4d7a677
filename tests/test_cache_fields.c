/* SPDX-License-Identifier: MIT
 *
 * test_cache_fields.c: fields in VTU and NumPy caches of random worlds equal the values of the API, mapped to tets by a
 * search over all tets. Undefined values are NaN. Fields that the world does not have are refused. Writing fields does
 * not change the bits of later steps.
 */
#include "sinew/contact.h"
#include "npy_file.h"

#include "random_cases.h"
#include "sinew/skin.h"

enum {
    ALL_FIELDS = (1 << SINEW_FIELD_COUNT) - 1
};

/* ---- Worlds ------------------------------------------------------------------------------------- */

static void add_material(sinew_world *world, sinew_body body, sinew_energy_kind kind, const int32_t *tets, int count)
{
    sinew_error error = {0};
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body = body;
    def.elements = tets;
    def.element_count = count;
    if (sinew_world_add_energy(world, &def, &error).index < 0)
        fail_msg("%s", error.text);
}

/* A bar with one energy over some of its tets, in random order, and another over some tets, which may overlap. */
static void add_bar(sinew_world *world, random_cases *cases, double height)
{
    sinew_error error = {0};
    sinew_beam_def def = sinew_default_beam_def();
    def.cells[0] = 1 + random_index(cases, 4);
    def.cells[1] = def.cells[2] = 1;
    sinew_mesh *mesh = sinew_mesh_beam(&def, &error);
    assert_non_null(mesh);
    sinew_real *q = malloc(3 * (size_t)sinew_mesh_vertex_count(mesh) * sizeof *q);
    for (int i = 0; i < 3 * sinew_mesh_vertex_count(mesh); i++)
        q[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)(random_between(cases, -0.05, 0.05) + (i % 3 == 1) * height);
    sinew_body_def body_def = sinew_default_body_def();
    body_def.mesh = mesh;
    body_def.positions = q;
    const sinew_body body = sinew_world_add_body(world, &body_def, &error);
    assert_true(body.index >= 0);
    const int32_t count = sinew_mesh_tet_count(mesh);
    int32_t *chosen = malloc(4 * (size_t)count * sizeof *chosen);
    const sinew_energy_kind kinds[2] = {SINEW_ENERGY_NEO_HOOKEAN, SINEW_ENERGY_COROTATED};
    for (int e = 0; e < 2; e++) {
        int some = 0;
        for (int32_t t = count; t-- > 0;)
            if (random_index(cases, 3) > 0 || (t == 0 && some == 0))
                memcpy(chosen + 4 * some++, sinew_mesh_tets(mesh) + 4 * t, 4 * sizeof *chosen);
        add_material(world, body, kinds[e], chosen, some);
    }
    int32_t held[3] = {0, 1, 2};
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = body;
    pin.vertices = held;
    pin.vertex_count = 3;
    assert_true(sinew_world_add_pins(world, &pin, &error).index >= 0);
    free(chosen);
    free(q);
    sinew_mesh_destroy(mesh);
}

/* Bars, a cloth and a rope in random order. */
static sinew_world *random_world(random_cases *cases, bool balance)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.balance = balance;
    def.thread_count = 1;
    sinew_world *world = sinew_world_create(&def, &error);
    assert_non_null(world);
    const int turn = random_index(cases, 3);
    for (int i = 0; i < 4; i++) {
        if ((i + turn) % 4 == 0)
            add_body(world, 4, q_cloth, 0, NULL, 2, cloth_triangles, 5, cloth_edges);
        else if ((i + turn) % 4 == 1)
            add_body(world, 3, q_rope, 0, NULL, 0, NULL, 2, rope_edges);
        else
            add_bar(world, cases, 3.0 * i);
    }
    /* Worlds with contact have the field contact_force, too. */
    const sinew_contact_def touch = sinew_default_contact_def();
    if (balance)
        assert_int_equal(sinew_world_set_contact(world, &touch, &error), SINEW_OK);
    return world;
}

/* ---- Values of the API --------------------------------------------------------------------------- */

typedef struct expectation {
    int tets;
    int32_t *tet;      /* [4 * tets] particles */
    int32_t *material; /* [tets] */
    sinew_real *values[SINEW_FIELD_COUNT];
} expectation;

static bool is_of_elements(int field)
{
    return sinew_get_field_info((sinew_field_kind)field)->of_elements;
}

static int width_of(int field)
{
    return sinew_get_field_info((sinew_field_kind)field)->component_count;
}

static bool same_tet(const int32_t *a, const int32_t *b)
{
    int met = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            met += a[i] == b[k];
    return met == 4;
}

static void add_energy(expectation *e, sinew_world *world, int32_t place)
{
    sinew_error error = {0};
    const sinew_energy energy = sinew_world_energy_at(world, place);
    const int32_t count = sinew_energy_element_count(world, energy);
    int32_t *corners = malloc(4 * (size_t)count * sizeof *corners), found;
    sinew_real *values = malloc(3 * (size_t)count * sizeof *values);
    assert_int_equal(sinew_energy_get_elements(world, energy, 0, count, corners, NULL, &error), SINEW_OK);
    for (int32_t i = 0; i < count; i++)
        for (int t = 0; t < e->tets; t++)
            if (same_tet(corners + 4 * i, e->tet + 4 * t) && e->material[t] < 0)
                e->material[t] = place;
    for (int f = 0; f < SINEW_FIELD_COUNT; f++) {
        if (!is_of_elements(f))
            continue;
        assert_int_equal(sinew_energy_field(world, energy, (sinew_field_kind)f, 3 * count, values, &found, &error),
                         SINEW_OK);
        for (int32_t i = 0; i < count; i++)
            for (int t = 0; t < e->tets; t++) {
                if (!same_tet(corners + 4 * i, e->tet + 4 * t))
                    continue;
                for (int c = 0; c < width_of(f) && e->material[t] == place; c++)
                    e->values[f][width_of(f) * t + c] = values[width_of(f) * i + c];
                if (e->material[t] != place && f == SINEW_FIELD_ENERGY)
                    e->values[f][t] += values[i];
            }
    }
    free(corners);
    free(values);
}

static expectation expect_fields(sinew_world *world, bool stepped)
{
    expectation e = {0};
    const int32_t count = sinew_world_particle_count(world);
    e.tet = malloc(4 * 1000 * sizeof *e.tet);
    for (int32_t i = 0; i < sinew_world_body_count(world); i++) {
        const sinew_body body = sinew_world_body_at(world, i);
        const sinew_mesh *mesh = sinew_body_mesh(world, body);
        for (int k = 0; k < 4 * sinew_mesh_tet_count(mesh); k++)
            e.tet[4 * e.tets + k] = sinew_body_first_particle(world, body) + sinew_mesh_tets(mesh)[k];
        e.tets += sinew_mesh_tet_count(mesh);
    }
    e.material = malloc((size_t)e.tets * sizeof *e.material);
    for (int t = 0; t < e.tets; t++)
        e.material[t] = -1;
    for (int f = 0; f < SINEW_FIELD_COUNT; f++) {
        const int owners = !is_of_elements(f) ? count : e.tets;
        e.values[f] = malloc((size_t)(owners * width_of(f)) * sizeof(sinew_real));
        for (int i = 0; i < owners * width_of(f); i++)
            e.values[f][i] = (sinew_real)NAN;
        if (f == SINEW_FIELD_FORCE || (!is_of_elements(f) && stepped))
            assert_int_equal(sinew_world_field(world, (sinew_field_kind)f, 0, count, e.values[f], NULL), SINEW_OK);
    }
    for (int32_t place = 0; place < sinew_world_energy_count(world); place++)
        add_energy(&e, world, place);
    return e;
}

static void free_expectation(expectation *e)
{
    free(e->tet);
    free(e->material);
    for (int f = 0; f < SINEW_FIELD_COUNT; f++)
        free(e->values[f]);
}

static bool same_number(sinew_real a, sinew_real b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* ---- Files --------------------------------------------------------------------------------------- */

/* Finds a named appended array of a VTU file; NULL if there is none. */
static const char *vtu_array(const char *file, const char *name, size_t *size)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "Name=\"%s\"", name);
    const char *tag = strstr(file, pattern), *head = "<AppendedData encoding=\"raw\">\n_";
    if (!tag)
        return NULL;
    const char *data = strstr(file, head) + strlen(head) + strtoul(strstr(tag, "offset=\"") + 8, NULL, 10);
    uint64_t stored;
    memcpy(&stored, data, sizeof stored);
    *size = (size_t)stored;
    return data + sizeof stored;
}

static sinew_real vtu_real(const char *array, size_t index)
{
    sinew_real value;
    memcpy(&value, array + index * sizeof value, sizeof value);
    return value;
}

static int32_t vtu_int(const char *array, size_t index)
{
    int32_t value;
    memcpy(&value, array + 4 * index, sizeof value);
    return value;
}

/* Tet cells have the values of their tets, all other cells NaN. */
static void check_vtu_cells(const char *file, const expectation *e)
{
    size_t size = 0, cells = 0;
    const char *types = vtu_array(file, "types", &cells), *offsets = vtu_array(file, "offsets", &size);
    const char *corners = vtu_array(file, "connectivity", &size), *material = vtu_array(file, "material", &size);
    assert_int_equal(size, 4 * cells);
    for (int f = 0; f < SINEW_FIELD_COUNT; f++) {
        if (!is_of_elements(f))
            continue;
        const char *values = vtu_array(file, sinew_get_field_info((sinew_field_kind)f)->name, &size);
        assert_int_equal(size, cells * (size_t)width_of(f) * sizeof(sinew_real));
        for (size_t c = 0; c < cells; c++) {
            int32_t cell[4] = {-1, -1, -1, -1}, tet = -1;
            for (int k = 0; k < 4 && types[c] == 10; k++)
                cell[k] = vtu_int(corners, (size_t)vtu_int(offsets, c) - 4 + (size_t)k);
            for (int t = 0; t < e->tets && types[c] == 10; t++)
                tet = same_tet(cell, e->tet + 4 * t) ? t : tet;
            assert_int_equal(tet >= 0, types[c] == 10);
            assert_int_equal(vtu_int(material, c), tet >= 0 ? e->material[tet] : -1);
            for (int k = 0; k < width_of(f); k++)
                assert_true(same_number(tet >= 0 ? e->values[f][width_of(f) * tet + k] : (sinew_real)NAN,
                                        vtu_real(values, c * (size_t)width_of(f) + (size_t)k)));
        }
    }
}

static void check_vtu(const char *folder, int frame, const expectation *e, int32_t count)
{
    char name[32];
    size_t size;
    snprintf(name, sizeof name, "run.%04d.vtu", frame);
    char *file = slurp(folder, name, &size);
    for (int f = 0; f < SINEW_FIELD_DETERMINANT; f++) {
        const char *values = vtu_array(file, sinew_get_field_info((sinew_field_kind)f)->name, &size);
        assert_non_null(values);
        assert_int_equal(size, 3 * (size_t)count * sizeof(sinew_real));
        for (int i = 0; i < 3 * count; i++)
            assert_true(same_number(e->values[f][i], vtu_real(values, (size_t)i)));
    }
    check_vtu_cells(file, e);
    free(file);
}

static void check_npy(const char *folder, int frame, const expectation *e)
{
    for (int f = 0; f < SINEW_FIELD_COUNT; f++) {
        npy_file array = npy_read(folder, sinew_get_field_info((sinew_field_kind)f)->name);
        const long long row = npy_count(&array) / array.shape[0];
        assert_true(!is_of_elements(f) || row == e->tets * width_of(f));
        for (long long i = 0; i < row; i++)
            assert_true(same_number(e->values[f][i], (sinew_real)npy_at(&array, row * frame + i)));
        npy_free(&array);
    }
    npy_file material = npy_read(folder, "material");
    for (int t = 0; t < e->tets; t++)
        assert_true(npy_at(&material, t) == e->material[t]);
    npy_free(&material);
}

/* ---- Tests --------------------------------------------------------------------------------------- */

static void fields_are_the_worlds(void **state)
{
    (void)state;
    enum {
        FRAMES = 3
    };
    random_cases cases = random_cases_begin("fields", 6, 200);
    const char *folder = IN_SCRATCH("fields");
    for (int32_t n = 0; n < cases.count; n++) {
        random_cases again = cases;
        fresh_folder(folder);
        sinew_world *world = random_world(&cases, true), *twin = random_world(&again, true);
        sinew_error error = {0};
        sinew_cache *caches[2];
        const sinew_cache_format formats[2] = {SINEW_CACHE_VTU, SINEW_CACHE_NPY};
        for (int i = 0; i < 2; i++) {
            sinew_cache_def def = cache_def(world, folder, formats[i]);
            def.fields = ALL_FIELDS;
            caches[i] = sinew_cache_open(&def, &error);
            if (!caches[i])
                fail_msg("%s", error.text);
        }
        expectation e[FRAMES];
        for (int k = 0; k < FRAMES; k++) {
            if (k) {
                sinew_world_step(world, NULL);
                sinew_world_step(twin, NULL);
            }
            for (int i = 0; i < 2; i++)
                assert_int_equal(sinew_cache_frame(caches[i], &error), SINEW_OK);
            assert_true(sinew_world_state_hash(world) == sinew_world_state_hash(twin));
            e[k] = expect_fields(world, k > 0);
        }
        for (int i = 0; i < 2; i++)
            assert_int_equal(sinew_cache_close(caches[i], &error), SINEW_OK);
        for (int k = 0; k < FRAMES; k++) {
            check_vtu(folder, k, &e[k], sinew_world_particle_count(world));
            check_npy(folder, k, &e[k]);
            free_expectation(&e[k]);
        }
        sinew_world_destroy(world);
        sinew_world_destroy(twin);
    }
}

static void refuse(const sinew_cache_def *def, const char *part)
{
    sinew_error error = {0};
    assert_null(sinew_cache_open(def, &error));
    assert_true(error.status == SINEW_ERROR_UNSUPPORTED || error.status == SINEW_ERROR_USAGE);
    if (!strstr(error.text, part) || strchr(error.text, '\n'))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
    assert_listing(def->directory, "");
}

/* Missing required fields are refused by name; missing optional fields are left out. */
static void fields_that_are_missing(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("missing", 1, 1);
    const sinew_cache_format formats[2] = {SINEW_CACHE_VTU, SINEW_CACHE_NPY};
    for (int i = 0; i < 2; i++) {
        const char *folder = fresh_folder(IN_SCRATCH("missing"));
        sinew_world *bare = make_world(NULL), *still = random_world(&cases, false);
        sinew_cache_def def = cache_def(bare, folder, formats[i]);
        def.fields = 1u << SINEW_FIELD_VON_MISES;
        refuse(&def, "the world does not have the field von_mises: no energy of it acts on tets");
        def.world = still;
        def.fields = 1u << SINEW_FIELD_REACTION;
        refuse(&def, "the world does not have the field reaction: it keeps no balance");
        def.fields = 1u << SINEW_FIELD_COUNT;
        def.fields_if_any = 0;
        refuse(&def, "fields is 0x200");
        def.world = bare;
        def.fields = 0;
        def.fields_if_any = ALL_FIELDS;
        sinew_error error = {0};
        sinew_cache *cache = sinew_cache_open(&def, &error);
        assert_non_null(cache);
        assert_int_equal(sinew_cache_frame(cache, &error), SINEW_OK);
        assert_int_equal(sinew_cache_close(cache, &error), SINEW_OK);
        size_t size;
        char *text = slurp(folder, i ? "run.npy.json" : "run.0000.vtu", &size);
        assert_non_null(strstr(text, "force")); /* the only field of this world */
        assert_null(strstr(text, "von_mises"));
        assert_null(strstr(text, "reaction"));
        free(text);
        sinew_world_destroy(bare);
        sinew_world_destroy(still);
    }
}

/* In a VTU file a body that is written as its skin has no tets; npy always has the bodies. */
static void fields_and_skins(void **state)
{
    (void)state;
    sinew_error error = {0};
    const char *folder = fresh_folder(IN_SCRATCH("skinned"));
    sinew_world *world = make_world(NULL);
    for (int place = 0; place < 4; place += 3) {
        const sinew_body body = sinew_world_body_at(world, place);
        add_material(world, body, SINEW_ENERGY_NEO_HOOKEAN, NULL, 0);
        sinew_skin *skin = sinew_skin_of_mesh(sinew_body_mesh(world, body), &error);
        sinew_embedding_def ride = sinew_default_embedding_def();
        ride.skin = skin;
        assert_int_equal(sinew_body_set_skin(world, body, &ride, &error), SINEW_OK);
        sinew_skin_destroy(skin);
        sinew_cache_def def = cache_def(world, folder, SINEW_CACHE_VTU);
        def.fields = 1u << SINEW_FIELD_FORCE | 1u << SINEW_FIELD_DETERMINANT;
        if (place == 3) {
            refuse(&def, "its bodies are written as their embedded surfaces");
            break;
        }
        write_frames(world, &def, 1); /* the other solid is written with its tets */
        size_t size = 0, cells = 0;
        char *file = slurp(folder, "run.0000.vtu", &size);
        const char *types = vtu_array(file, "types", &cells), *values = vtu_array(file, "determinant", &size);
        for (size_t c = 0; c < cells; c++)
            assert_true(types[c] == 10 || isnan(vtu_real(values, c)));
        const char *force = vtu_array(file, "force", &size);
        for (size_t k = 0; k < 3; k++) /* the first points are the skin's, the last ones are particles */
            assert_true(isnan(vtu_real(force, k)) && !isnan(vtu_real(force, size / sizeof(sinew_real) - 1 - k)));
        free(file);
        fresh_folder(folder);
    }
    sinew_world_destroy(world);
}

#define LONG_NAME "a_folder_with_a_name_of_fifty_characters_or_so"

/* The npy cache with the most arrays: all fields and a skin. Long paths fill the records of the arrays. */
static void all_fields_with_a_skin(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("skin", 1, 1);
    sinew_error error = {0};
    const char *folder = fresh_folder(IN_SCRATCH("most_" LONG_NAME LONG_NAME LONG_NAME LONG_NAME));
    sinew_world *world = random_world(&cases, true);
    for (int32_t i = 0; i < sinew_world_body_count(world); i++) {
        const sinew_body body = sinew_world_body_at(world, i);
        if (sinew_mesh_tet_count(sinew_body_mesh(world, body)) == 0)
            continue;
        sinew_skin *skin = sinew_skin_of_mesh(sinew_body_mesh(world, body), &error);
        sinew_embedding_def ride = sinew_default_embedding_def();
        ride.skin = skin;
        assert_int_equal(sinew_body_set_skin(world, body, &ride, &error), SINEW_OK);
        sinew_skin_destroy(skin);
    }
    sinew_cache_def def = cache_def(world, folder, SINEW_CACHE_NPY);
    def.fields = ALL_FIELDS;
    sinew_cache *cache = sinew_cache_open(&def, &error);
    assert_non_null(cache);
    expectation e[2];
    for (int k = 0; k < 2; k++) {
        if (k)
            sinew_world_step(world, NULL);
        assert_int_equal(sinew_cache_frame(cache, &error), SINEW_OK);
        e[k] = expect_fields(world, k > 0);
    }
    assert_int_equal(sinew_cache_close(cache, &error), SINEW_OK);
    for (int k = 0; k < 2; k++) {
        check_npy(folder, k, &e[k]);
        free_expectation(&e[k]);
    }
    static const char *const others[] = {"positions", "velocities", "time",          "tets",
                                         "triangles", "edges",      "skin_vertices", "skin_weights"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        npy_file array = npy_read(folder, others[i]);
        assert_true(array.shape[0] > 0);
        npy_free(&array);
    }
    sinew_world_destroy(world);
}

static bool goes_through(const sinew_cache_def *def)
{
    sinew_error error = {0};
    sinew_cache *cache = sinew_cache_open(def, &error);
    sinew_status status = cache ? sinew_cache_frame(cache, &error) : error.status;
    if (cache && sinew_cache_close(cache, &error) != SINEW_OK)
        status = error.status;
    assert_true(status == SINEW_OK || status == SINEW_ERROR_MEMORY);
    return status == SINEW_OK;
}

/* Each allocation fails in turn: no memory is leaked and no file is left. */
static void failing_memory(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("memory", 1, 1);
    sinew_world *world = random_world(&cases, true);
    for (int i = 0; i < 2; i++) {
        failing_allocator memory = {0};
        sinew_cache_def def = cache_def(world, IN_SCRATCH("fails"), i ? SINEW_CACHE_NPY : SINEW_CACHE_VTU);
        def.allocator = hooks_of(&memory);
        def.fields = ALL_FIELDS;
        bool done = false;
        for (int n = 1; !done; n++) {
            assert_true(n < 200);
            fresh_folder(IN_SCRATCH("fails"));
            memory.fail_at = memory.calls + n;
            done = goes_through(&def);
            memory.fail_at = 0;
            assert_int_equal(memory.live, 0);
            if (!done)
                assert_listing(IN_SCRATCH("fails"), "");
        }
    }
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_the_worlds), cmocka_unit_test(fields_that_are_missing),
        cmocka_unit_test(fields_and_skins),      cmocka_unit_test(all_fields_with_a_skin),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
