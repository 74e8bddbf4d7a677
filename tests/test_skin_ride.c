/* SPDX-License-Identifier: MIT
 *
 * test_skin_ride.c: the embedded surface of a body: weights against a search through all cells, on random meshes and
 * points; rigid motion; a skin does not change steps; added vertices and cells; allocation failures.
 */
#include "skin_fixture.h"

#include "failing_allocator.h"
#include "mesh/mesh.h"
#include "bvh/nearest_on_body.h"
#include "random_cases.h"

/* ---- Random meshes --------------------------------------------------------------------------------- */

static sinew_mesh *make_round(random_cases *r, int kind, sinew_error *error)
{
    sinew_mesh *(*const makers[])(const sinew_round_def *, sinew_error *) = {sinew_mesh_ball, sinew_mesh_cylinder,
                                                                             sinew_mesh_torus, sinew_mesh_tube};
    sinew_round_def def = sinew_default_round_def();
    def.segments = 4 + random_index(r, 6);
    def.layers = 2;
    return makers[kind](&def, error);
}

static sinew_mesh *make_flat(random_cases *r, int kind, sinew_error *error)
{
    sinew_cloth_def cloth = sinew_default_cloth_def();
    sinew_rope_def rope = sinew_default_rope_def();
    cloth.vertices[0] = 2 + random_index(r, 8);
    cloth.vertices[1] = 2 + random_index(r, 8);
    rope.vertices = 2 + random_index(r, 20);
    return kind == 0 ? sinew_mesh_cloth(&cloth, error) : sinew_mesh_rope(&rope, error);
}

/* A body with vertices displaced by at most a third of a cell, so that no plane is flat and few tets are inverted. */
static sinew_mesh *random_mesh(random_cases *r)
{
    sinew_error error = {0};
    const int kind = random_index(r, 6);
    sinew_mesh *mesh = kind < 4 ? make_round(r, kind, &error) : make_flat(r, kind - 4, &error);
    assert_non_null(mesh);
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        mesh->positions[i] += (sinew_real)random_between(r, -0.01, 0.01);
    return mesh;
}

static void random_points(random_cases *r, const sinew_mesh *mesh, sinew_real *points, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const sinew_real *at = mesh->positions + 3 * (size_t)random_index(r, mesh->vertex_count);
        const double far = random_index(r, 3) == 0 ? 0.5 : 0.05;
        for (size_t c = 0; c < 3; c++)
            points[3 * (size_t)i + c] =
                random_index(r, 40) == 0 ? at[c] : at[c] + (sinew_real)random_between(r, -far, far);
    }
}

/* ---- The search through all cells --------------------------------------------------------------- */

/* Smallest barycentric weight of a point, by volumes of the four tets that it makes with the faces. */
static double depth_in(const sinew_mesh *mesh, const int32_t *tet, const sinew_real *point)
{
    sinew_real corners[15];
    for (size_t i = 0; i < 12; i++)
        corners[i] = mesh->positions[3 * (size_t)tet[i / 3] + i % 3];
    memcpy(corners + 12, point, 3 * sizeof *corners);
    const double whole = sinew_tet_volume(corners, (int32_t[]){0, 1, 2, 3});
    double min = INFINITY;
    for (int i = 0; i < 4; i++) {
        int32_t part[4] = {0, 1, 2, 3};
        part[i] = 4;
        min = fmin(min, sinew_tet_volume(corners, part) / whole);
    }
    return min;
}

static double deepest(const sinew_mesh *mesh, const sinew_real *point)
{
    double best = -INFINITY;
    for (int32_t t = 0; t < mesh->tet_count; t++)
        best = fmax(best, depth_in(mesh, mesh->tets + 4 * (size_t)t, point));
    return best;
}

/* Distance from one tet: 0 inside, else to the nearest of its faces. */
static double distance_to_tet(const sinew_mesh *mesh, const int32_t *tet, const sinew_real *point)
{
    sinew_error error = {0};
    sinew_body_search search;
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = mesh->vertex_count;
    def.positions = mesh->positions;
    def.tet_count = 1;
    def.tets = tet;
    if (depth_in(mesh, tet, point) >= 0)
        return 0;
    sinew_mesh *one = sinew_mesh_create(&def, &error);
    assert_int_equal(sinew_body_search_begin(&search, one, one->positions, false, &error), SINEW_OK);
    const double found = sqrt(sinew_body_search_nearest(&search, point).distance2);
    sinew_body_search_end(&search);
    sinew_mesh_destroy(one);
    return found;
}

typedef struct ride {
    const sinew_mesh *mesh;
    const int32_t *vertices;
    const sinew_real *weights;
} ride;

/* The rest position of a skin vertex by its weights. */
static void blend_rest(const ride *of, sinew_real *place)
{
    for (size_t c = 0; c < 3; c++) {
        double sum = 0;
        for (int k = 0; k < 4; k++)
            sum += (double)of->weights[k] * (double)of->mesh->positions[3 * (size_t)of->vertices[k] + c];
        place[c] = (sinew_real)sum;
    }
}

static double distance(const sinew_real *a, const sinew_real *b)
{
    double sum = 0;
    for (int c = 0; c < 3; c++)
        sum += ((double)a[c] - (double)b[c]) * ((double)a[c] - (double)b[c]);
    return sqrt(sum);
}

/* A vertex on tets: its weights reproduce its position, from the tet that contains it most deeply or is nearest. */
static void check_on_tets(const ride *of, const sinew_real *point, const sinew_body_search *search)
{
    sinew_real place[3];
    blend_rest(of, place);
    assert_true(distance(place, point) < 100 * CLOSE);
    const double inside = deepest(of->mesh, point), mine = depth_in(of->mesh, of->vertices, point);
    if (inside >= CLOSE) {
        assert_true(fabs(mine - inside) < 100 * CLOSE);
        return;
    }
    if (inside < -CLOSE) {
        const double nearest = sqrt(sinew_body_search_nearest(search, point).distance2);
        assert_true(fabs(distance_to_tet(of->mesh, of->vertices, point) - nearest) < 100 * CLOSE);
    }
}

/* On other bodies a vertex is bound to the nearest point. */
static void check_on_others(const ride *of, const sinew_real *point, const sinew_body_search *search)
{
    sinew_real place[3];
    blend_rest(of, place);
    assert_true(fabs(distance(place, point) - sqrt(sinew_body_search_nearest(search, point).distance2)) < 100 * CLOSE);
    for (int k = 0; k < 4; k++)
        assert_true(of->weights[k] >= 0);
}

static void weights_are_those_of_all_cells(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("skins", 40, 2000);
    for (int32_t n = 0; n < r.count; n++) {
        sinew_mesh *mesh = random_mesh(&r);
        sinew_real points[3 * 60];
        random_points(&r, mesh, points, 60);
        sinew_skin *skin = skin_of_points(points, 60);
        sinew_error error = {0};
        sinew_body body;
        sinew_world *world = world_of(mesh, NULL, &body);
        assert_non_null(world);
        assert_int_equal(put_skin(world, body, skin, &error), SINEW_OK);
        const sinew_mesh *kept = sinew_body_mesh(world, body);
        sinew_body_search search;
        assert_int_equal(sinew_body_search_begin(&search, kept, kept->positions, false, &error), SINEW_OK);
        for (size_t i = 0; i < 60; i++) {
            const ride of = {kept, sinew_body_skin_vertices(world, body) + 4 * i,
                             sinew_body_skin_weights(world, body) + 4 * i};
            (kept->tet_count ? check_on_tets : check_on_others)(&of, points + 3 * i, &search);
        }
        sinew_body_search_end(&search);
        sinew_skin_destroy(skin);
        sinew_world_destroy(world);
    }
}

/* ---- Motion --------------------------------------------------------------------------------- */

static sinew_world *ball_with_bean(sinew_body *body, sinew_skin **skin)
{
    sinew_error error = {0};
    sinew_round_def def = sinew_default_round_def();
    sinew_world *world = world_of(sinew_mesh_ball(&def, &error), NULL, body);
    *skin = need_skin(SINEW_SOURCE_DIR "/scenes/meshes/bean.obj");
    assert_non_null(world);
    if (put_skin(world, *body, *skin, &error) != SINEW_OK)
        fail_msg("%s", error.text);
    return world;
}

/* A quarter turn about z and a shift of everything. */
static void turn(const sinew_real *x, sinew_real *y)
{
    y[0] = -x[1] + 3;
    y[1] = x[0] - 2;
    y[2] = x[2] + 1;
}

static void rigid_motion_is_followed(void **state)
{
    (void)state;
    sinew_body body;
    sinew_skin *skin;
    sinew_world *world = ball_with_bean(&body, &skin);
    const int32_t count = sinew_world_particle_count(world), points = sinew_skin_vertex_count(skin);
    sinew_real *q = malloc(3 * (size_t)count * sizeof *q), *v = malloc(3 * (size_t)count * sizeof *v);
    sinew_real *skin_q = malloc(3 * (size_t)points * sizeof *q), *skin_v = malloc(3 * (size_t)points * sizeof *q);
    sinew_world_get_positions(world, 0, count, q);
    for (size_t i = 0; i < (size_t)count; i++) {
        sinew_real moved[3];
        turn(q + 3 * i, moved);
        memcpy(q + 3 * i, moved, sizeof moved);
        memcpy(v + 3 * i, (sinew_real[]){1, -2, 3}, sizeof moved);
    }
    sinew_world_set_positions(world, 0, count, q);
    sinew_world_set_velocities(world, 0, count, v);
    assert_int_equal(sinew_body_skin_positions(world, body, skin_q), SINEW_OK);
    assert_int_equal(sinew_body_skin_velocities(world, body, skin_v), SINEW_OK);
    for (size_t i = 0; i < (size_t)points; i++) {
        sinew_real expected[3];
        turn(sinew_skin_positions(skin) + 3 * i, expected);
        assert_true(distance(expected, skin_q + 3 * i) < CLOSE);
        assert_true(distance(skin_v + 3 * i, (sinew_real[]){1, -2, 3}) < 100 * CLOSE);
    }
    free(q);
    free(v);
    free(skin_q);
    free(skin_v);
    sinew_skin_destroy(skin);
    sinew_world_destroy(world);
}

static uint64_t hash_after_steps(bool shown)
{
    sinew_body body;
    sinew_skin *skin;
    sinew_world *world = ball_with_bean(&body, &skin);
    sinew_error error = {0};
    sinew_energy_def rubber = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    rubber.body = body;
    if (!shown)
        assert_int_equal(put_skin(world, body, NULL, &error), SINEW_OK);
    assert_true((sinew_body_skin(world, body) != NULL) == shown);
    assert_true(sinew_world_add_energy(world, &rubber, &error).index >= 0);
    for (int i = 0; i < 3; i++)
        sinew_world_step(world, NULL);
    const uint64_t hash = sinew_world_state_hash(world);
    sinew_skin_destroy(skin);
    sinew_world_destroy(world);
    return hash;
}

static void no_step_changes(void **state)
{
    (void)state;
    assert_true(hash_after_steps(true) == hash_after_steps(false));
}

/* ---- Components ------------------------------------------------------------------------------------ */

/* Boxes side by side, with gaps much thinner than a cell, as one surface: 8 vertices and 12 triangles each. */
static sinew_mesh *plates(int32_t count, double thickness, double gap)
{
    static const int32_t sides[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                      2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    sinew_error error = {0};
    sinew_real q[3 * 8 * 8];
    int32_t faces[36 * 8];
    for (int32_t i = 0; i < 24 * count; i++) {
        const int corner = i / 3 % 8, axis = i % 3;
        const double size[3] = {1, thickness, 0.9};
        q[i] = (sinew_real)((corner >> axis & 1) * size[axis] + (axis == 1 ? i / 24 * (thickness + gap) : 0));
    }
    for (int32_t i = 0; i < 36 * count; i++)
        faces[i] = sides[i % 36] + 8 * (i / 36);
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 8 * count;
    def.positions = q;
    def.triangle_count = 12 * count;
    def.triangles = faces;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    assert_non_null(mesh);
    return mesh;
}

/* Connected components of a mesh: piece[vertex] is the lowest vertex of its component. */
static void find_pieces(const sinew_mesh *mesh, int32_t *piece)
{
    for (int32_t i = 0; i < mesh->vertex_count; i++)
        piece[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t t = 0; t < mesh->tet_count; t++) {
            const int32_t *tet = mesh->tets + 4 * (size_t)t;
            int32_t lowest = piece[tet[0]];
            for (int k = 1; k < 4; k++)
                lowest = piece[tet[k]] < lowest ? piece[tet[k]] : lowest;
            for (int k = 0; k < 4; k++) {
                changed = changed || piece[tet[k]] != lowest;
                piece[tet[k]] = lowest;
            }
        }
    }
}

/* Each plate is embedded in its own component of the body, though components share cells of the lattice. */
static void parts_ride_on_their_own(void **state)
{
    (void)state;
    for (int32_t count = 2; count <= 3; count++) {
        sinew_error error = {0};
        sinew_mesh *surface = plates(count, 0.2, 0.02);
        sinew_skin *skin = sinew_skin_of_mesh(surface, &error);
        sinew_fill_def def = sinew_default_fill_def();
        def.surface = surface;
        def.cells = 5;
        sinew_fill_report report;
        sinew_mesh *filled = sinew_mesh_fill(&def, &report, &error);
        if (!filled)
            fail_msg("%s", error.text);
        assert_int_equal(report.components, count);
        assert_true(report.split_cells > 0);
        sinew_body body;
        sinew_world *world = world_of(filled, NULL, &body);
        assert_int_equal(put_skin(world, body, skin, &error), SINEW_OK);
        const sinew_mesh *mesh = sinew_body_mesh(world, body);
        int32_t *piece = malloc((size_t)mesh->vertex_count * sizeof *piece), of[3];
        find_pieces(mesh, piece);
        for (int32_t i = 0; i < 32 * count; i++) {
            const int32_t mine = piece[sinew_body_skin_vertices(world, body)[i]];
            of[i / 32] = i % 32 == 0 ? mine : of[i / 32];
            assert_int_equal(mine, of[i / 32]);
        }
        for (int32_t i = 1; i < count; i++)
            assert_true(of[i] != of[i - 1] && of[i] != of[0]);
        free(piece);
        sinew_skin_destroy(skin);
        sinew_mesh_destroy(surface);
        sinew_world_destroy(world);
    }
}

/* ---- Changes -------------------------------------------------------------------------------- */

static void skin_keeps_its_weights(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_body body;
    sinew_skin *skin;
    sinew_world *world = ball_with_bean(&body, &skin);
    const int32_t points = sinew_skin_vertex_count(skin);
    const size_t size = 3 * (size_t)points * sizeof(sinew_real);
    sinew_real *before = malloc(size), *after = malloc(size);
    sinew_body_skin_positions(world, body, before);
    const int32_t copied = 7;
    sinew_vertices_def more = sinew_default_vertices_def();
    more.count = 1;
    more.copies_of = &copied;
    assert_int_equal(sinew_body_add_vertices(world, body, &more, NULL, &error), SINEW_OK);
    sinew_mesh *other =
        sinew_mesh_moved(sinew_body_mesh(world, body), sinew_mesh_positions(sinew_body_mesh(world, body)), &error);
    assert_int_equal(sinew_body_set_mesh(world, body, other, &error), SINEW_OK);
    assert_int_equal(sinew_body_skin_positions(world, body, after), SINEW_OK);
    assert_memory_equal(before, after, size);
    assert_int_equal(sinew_world_remove_body(world, body, &error), SINEW_OK);
    assert_null(sinew_body_skin(world, body));
    assert_int_equal(sinew_body_skin_positions(world, body, after), SINEW_ERROR_USAGE);
    free(before);
    free(after);
    sinew_mesh_destroy(other);
    sinew_skin_destroy(skin);
    sinew_world_destroy(world);
}

static void too_far_is_refused(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_body body;
    sinew_skin *bean, *roof = roof_skin();
    sinew_world *world = ball_with_bean(&body, &bean);
    sinew_embedding_def def = sinew_default_embedding_def();
    def.skin = roof;
    def.farthest = 2;
    assert_int_equal(sinew_body_set_skin(world, body, &def, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "skin: vertex 6 is 15.0"));
    assert_ptr_not_equal(sinew_body_skin(world, body), NULL);
    assert_int_equal(sinew_skin_vertex_count(sinew_body_skin(world, body)), 386);
    def.farthest = -1;
    assert_int_equal(sinew_body_set_skin(world, body, &def, &error), SINEW_ERROR_DATA);
    def.farthest = 0;
    assert_int_equal(sinew_body_set_skin(world, body, &def, &error), SINEW_OK);
    sinew_skin_destroy(roof);
    sinew_skin_destroy(bean);
    sinew_world_destroy(world);
}

static void memory_that_is_refused(void **state)
{
    (void)state;
    sinew_skin *roof = roof_skin();
    failing_allocator memory = {0};
    const sinew_allocator hooks = hooks_of(&memory);
    sinew_error error = {0};
    sinew_box_def box = sinew_default_box_def();
    box.vertices[0] = box.vertices[1] = box.vertices[2] = 3;
    sinew_body body;
    sinew_world *world = world_of(sinew_mesh_box(&box, &error), &hooks, &body);
    const int64_t live = memory.live;
    bool good = false;
    for (memory.fail_at = 1; !good; memory.fail_at++) {
        memory.calls = 0;
        good = put_skin(world, body, roof, &error) == SINEW_OK;
        if (!good) {
            assert_int_equal(error.status, SINEW_ERROR_MEMORY);
            assert_int_equal(memory.live, live);
            assert_null(sinew_body_skin(world, body));
        }
    }
    assert_true(memory.fail_at > 10);
    sinew_world_destroy(world);
    assert_int_equal(memory.live, 0);
    sinew_skin_destroy(roof);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_those_of_all_cells),
        cmocka_unit_test(rigid_motion_is_followed),
        cmocka_unit_test(no_step_changes),
        cmocka_unit_test(skin_keeps_its_weights),
        cmocka_unit_test(parts_ride_on_their_own),
        cmocka_unit_test(too_far_is_refused),
        cmocka_unit_test(memory_that_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
