/* SPDX-License-Identifier: MIT
 *
 * test_sheets.c: pressure in closed surfaces, sheet materials by name, and damping of bodies and energies.
 */
#include "sinew/material.h"
#include "sinew/scene.h"

#include "balloon.h"
#include "random_cases.h"
#include "small_world.h"
#include "world/world.h"

#ifdef SINEW_SINGLE
#define EXACT     1e-4
#define BAR_EXACT 2e-3
#else
#define EXACT     1e-9
#define BAR_EXACT 1e-6
#endif

static sinew_world_def calm(double h, sinew_solver_kind kind)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)h;
    def.balance = true;
    def.solver = sinew_default_solver_def(kind);
    memset(def.gravity, 0, sizeof def.gravity);
    return def;
}

static sinew_energy add_pressure(sinew_world *world, sinew_body body, double pressure, bool gas, double ambient)
{
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_PRESSURE);
    def.body = body;
    def.parameters[0] = (sinew_real)pressure;
    def.parameters[1] = gas;
    def.parameters[2] = (sinew_real)ambient;
    return add_energy(world, &def);
}

static sinew_energy add_rubber(sinew_world *world, sinew_body body, double young, double thickness, double damping)
{
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_MEMBRANE_NEO_HOOKEAN);
    def.body = body;
    def.parameters[0] = (sinew_real)young;
    def.parameters[1] = (sinew_real)thickness;
    def.damping = (sinew_real)damping;
    return add_energy(world, &def);
}

/* ---- Pressure ---------------------------------------------------------------------------------- */

/* psi of the whole surface is -p V for any shape and position, and its forces have neither resultant nor moment. */
static void the_potential_is_the_volume(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("volumes", 20, 500);
    sinew_mesh *mesh = make_shell(1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    for (int32_t k = 0; k < r.count; k++) {
        sinew_world_def def = calm(0.01, SINEW_SOLVER_NEWTON);
        sinew_world *world = make_world(&def);
        const sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
        const double p = random_between(&r, -500, 500);
        add_pressure(world, body, p, false, 0);
        sinew_real *q = positions_of(world), *g = make_array(3 * (size_t)n, sizeof *g);
        const double far = random_between(&r, -5, 5);
        for (int32_t i = 0; i < 3 * n; i++)
            q[i] += (sinew_real)(random_between(&r, -0.3, 0.3) + far);
        sinew_world_set_positions(world, 0, n, q);
        sinew_measures m;
        sinew_world_measure(world, &m);
        const double V = volume_of(mesh, q);
        if (!(fabs(m.elastic + p * V) <= EXACT * fabs(p) * (1 + far * far)))
            fail_msg("psi is %.12g J, expected -p V = %.12g", m.elastic, -p * V);
        sinew_error error = {0};
        sinew_world_field(world, SINEW_FIELD_FORCE, 0, n, g, &error);
        must(&error);
        double sum[3] = {0};
        for (int32_t i = 0; i < 3 * n; i++)
            sum[i % 3] += (double)g[i];
        for (int c = 0; c < 3; c++)
            assert_true(fabs(sum[c]) <= EXACT * fabs(p) * 100);
        free(q);
        free(g);
        sinew_world_destroy(world);
    }
    sinew_mesh_destroy(mesh);
}

/* newton, qn and pbng find the same shape, and its energy balance closes. */
static void solvers_agree_on_a_balloon(void **unused)
{
    (void)unused;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN, SINEW_SOLVER_PBNG};
    double volumes[3];
    sinew_mesh *mesh = make_shell(1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    for (int k = 0; k < 3; k++) {
        sinew_world_def def = calm(0.02, kinds[k]);
        def.solver.iterations = 2000;
        sinew_world *world = make_world(&def);
        const sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
        add_rubber(world, body, 3e5, 1e-3, 0);
        add_pressure(world, body, 80, false, 0);
        for (int i = 0; i < 5; i++)
            sinew_world_step(world, NULL);
        sinew_balance b;
        sinew_error error = {0};
        sinew_world_balance(world, &b, &error);
        must(&error);
        assert_true(fabs(b.unaccounted) <= EXACT * (fabs(b.elastic[1]) + b.kinetic[1]) * 10);
        sinew_real *q = positions_of(world);
        volumes[k] = volume_of(mesh, q);
        printf("%-8s volume %.9f m3 after 5 steps\n", sinew_get_solver_info(kinds[k])->name, volumes[k]);
        assert_true(fabs(volumes[k] / volumes[0] - 1) < (sizeof(sinew_real) == 4 ? 1e-3 : 1e-6));
        free(q);
        sinew_world_destroy(world);
    }
    (void)n;
    sinew_mesh_destroy(mesh);
}

/* The lagged gas converges to the equilibrium of its law and the rubber. */
static void a_gas_comes_to_rest_where_its_law_holds(void **unused)
{
    (void)unused;
    sinew_mesh *mesh = make_shell(1);
    sinew_world_def def = calm(0.05, SINEW_SOLVER_NEWTON);
    def.damping = 20;
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    add_rubber(world, body, 3e5, 1e-3, 0);
    const sinew_energy gas = add_pressure(world, body, 150, true, 50);
    for (int i = 0; i < 200; i++)
        sinew_world_step(world, NULL);
    sinew_real *q = positions_of(world);
    const double V0 = volume_of(mesh, sinew_mesh_positions(mesh)), V = volume_of(mesh, q);
    const double expected = 200 * V0 / V - 50, stretch = cbrt(V / V0);
    const double rubber = 200 * (1 / stretch - pow(stretch, -7));
    sinew_measures m;
    sinew_world_measure(world, &m);
    printf("gas: stretch %.4f, pressure %.3f Pa by its law, %.3f Pa by the rubber's\n", stretch, expected, rubber);
    assert_true(stretch > 1.05 && fabs(expected / rubber - 1) < 0.03);
    assert_true(m.kinetic < 1e-6);
    sinew_world_remove_energy(world, gas, NULL);
    free(q);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

static void refuse_pressure(const sinew_mesh *mesh, int32_t count, const int32_t *triangles, const char *words)
{
    sinew_error error = {0};
    sinew_world_def def = calm(0.01, SINEW_SOLVER_NEWTON);
    sinew_world *world = make_world(&def);
    sinew_energy_def pressure = sinew_default_energy_def(SINEW_ENERGY_PRESSURE);
    pressure.body = add_mesh(world, mesh, 1, NULL, NULL);
    pressure.elements = triangles;
    pressure.element_count = count;
    assert_true(sinew_world_add_energy(world, &pressure, &error).index < 0);
    refused(&error, SINEW_ERROR_DATA, words);
    sinew_world_destroy(world);
}

static void open_and_turned_surfaces_are_refused(void **unused)
{
    (void)unused;
    sinew_mesh *mesh = make_shell(1);
    const int32_t count = sinew_mesh_triangle_count(mesh);
    int32_t *triangles = make_array(3 * (size_t)count, sizeof *triangles);
    memcpy(triangles, sinew_mesh_triangles(mesh), 3 * (size_t)count * sizeof *triangles);
    refuse_pressure(mesh, count - 1, triangles, "3 edges have one triangle and 0 more than two");
    for (int32_t i = 0; i < count; i++) {
        const int32_t a = triangles[3 * i];
        triangles[3 * i] = triangles[3 * i + 1];
        triangles[3 * i + 1] = a;
    }
    refuse_pressure(mesh, count, triangles, "its triangles face inwards");
    memcpy(triangles, sinew_mesh_triangles(mesh), 3 * sizeof *triangles);
    refuse_pressure(mesh, count, triangles, "at 3 edges the two triangles do not face the same side");
    free(triangles);
    sinew_mesh_destroy(mesh);
}

/* Adds a gas to a surface whose vertices are scaled along each axis. */
static sinew_status fill_scaled(const sinew_mesh *mesh, const double scale[3], double lean, sinew_error *error)
{
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    int flat = 0;
    for (int i = 0; i < 3; i++)
        flat = scale[i] == 0 ? i : flat;
    for (int32_t i = 0; i < 3 * n; i++)
        x[i] = (sinew_real)(scale[i % 3] * (double)sinew_mesh_positions(mesh)[i]);
    /* The flat surface lies in an oblique plane without symmetry, so that its round-off does not cancel. */
    const int other = (flat + 1) % 3;
    for (int32_t i = 0; lean != 0 && i < n; i++) {
        x[3 * i + other] += (sinew_real)(0.37 * scale[other]) * sinew_mesh_positions(mesh)[3 * i + flat];
        x[3 * i + flat] = (sinew_real)lean * x[3 * i + other];
    }
    sinew_mesh *scaled = sinew_mesh_moved(mesh, x, error);
    assert_non_null(scaled);
    sinew_world_def def = calm(0.01, SINEW_SOLVER_NEWTON);
    sinew_world *world = make_world(&def);
    sinew_energy_def gas = sinew_default_energy_def(SINEW_ENERGY_PRESSURE);
    gas.body = add_mesh(world, scaled, 1, NULL, NULL);
    gas.parameters[sinew_energy_parameter(gas.kind, "gas")] = 1;
    const sinew_status status = sinew_world_add_energy(world, &gas, error).index < 0 ? error->status : SINEW_OK;
    sinew_world_destroy(world);
    sinew_mesh_destroy(scaled);
    free(x);
    return status;
}

/* Flatness depends on the shape and not on the size: a ball of 10 um holds a gas, a flat needle does not, in any
 * direction. */
static void a_gas_needs_volume_at_any_size(void **unused)
{
    (void)unused;
    sinew_mesh *mesh = make_shell(1);
    for (int e = -5; e <= 3; e++) {
        sinew_error error = {0};
        const double size = pow(10, e);
        if (fill_scaled(mesh, (const double[3]){size, size, size}, 0, &error) != SINEW_OK)
            fail_msg("radius %g m: %s", size, error.text);
    }
    for (int axis = 0; axis < 3; axis++) {
        sinew_error error = {0};
        double scale[3] = {1e-4, 1e-4, 1e-4};
        scale[axis] = 1;
        scale[(axis + 1) % 3] = 0;
        assert_int_equal(fill_scaled(mesh, scale, 0.3, &error), SINEW_ERROR_DATA);
        refused(&error, SINEW_ERROR_DATA, "flat at rest");
    }
    sinew_mesh_destroy(mesh);
}

/* ---- Sheets by name ---------------------------------------------------------------------------- */

static void materials_are_what_they_say(void **unused)
{
    (void)unused;
    char words[512] = "";
    for (int32_t i = 0; i < sinew_material_count(); i++) {
        const sinew_material *m = sinew_material_at(i);
        strcat(words, i ? "|" : "");
        strcat(words, m->name);
        assert_ptr_equal(sinew_material_by_name(m->name), m);
        assert_true(m->density > 0.01 && m->density < 2 && m->thickness > 1e-5 && m->thickness < 5e-3);
        assert_true(m->young[0] >= m->young[1] && m->rigidity[0] >= m->rigidity[1] && strlen(m->source) > 20);
        /* No sheet bends harder than a plate of its modulus and thickness, up to rounding. */
        for (int k = 0; k < 2; k++)
            assert_true(m->rigidity[k] <=
                        1.02 * m->young[k] * pow(m->thickness, 3) / (12 * (1 - m->poisson * m->poisson)));
    }
    assert_string_equal(words, SINEW_MATERIAL_NAMES);
    assert_null(sinew_material_by_name("nylon"));
    sinew_error error = {0};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_MEMBRANE_STVK);
    assert_int_equal(sinew_energy_def_set_material(&def, "paper", &error), SINEW_OK);
    const int32_t young = sinew_energy_parameter(def.kind, "young"),
                  thick = sinew_energy_parameter(def.kind, "thickness");
    assert_true(fabs((double)def.parameters[young] / sqrt(18e18) - 1) < 1e-6);
    assert_true(fabs((double)def.parameters[thick] - 1e-4) < 1e-9);
    sinew_energy_def_set_material(&def, "cottn", &error);
    refused(&error, SINEW_ERROR_DATA, "did you mean \"cotton\"?");
    def = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    sinew_energy_def_set_material(&def, "cotton", &error);
    refused(&error, SINEW_ERROR_DATA, "neo_hookean takes nothing of cotton");
}

/* Pulls a bar of a named volume with a small force and compares its strain and narrowing with E and nu. */
static void check_bar(const sinew_volume_material *m)
{
    char text[1500];
    const double pull = 1e-3 * m->young; /* N on 1 m2; `linear` has no other strain than 1e-3 */
    snprintf(text, sizeof text,
             "{\"sinew\": 1, \"quasistatic\": true, \"gravity\": [0, 0, 0], \"solver\": {\"name\": \"newton\","
             " \"iterations\": 30, \"tolerance\": 1e-9}, \"bodies\": [{\"mesh\": {\"generator\": \"box\","
             " \"vertices\": [2, 2, 2]}, \"material\": \"%s\", \"energies\": [{\"energy\": \"linear\"}],"
             " \"pins\": [{\"select\": {\"half_space\": {\"point\": [0.01, 0, 0], \"normal\": [-1, 0, 0]}},"
             " \"directions\": [[1, 0, 0]]},"
             " {\"select\": {\"half_space\": {\"point\": [0, 0.01, 0], \"normal\": [0, -1, 0]}},"
             " \"directions\": [[0, 1, 0]]},"
             " {\"select\": {\"half_space\": {\"point\": [0, 0, 0.01], \"normal\": [0, 0, -1]}},"
             " \"directions\": [[0, 0, 1]]}],"
             " \"loads\": [{\"load\": \"traction\", \"traction\": [%.9g, 0, 0],"
             " \"select\": {\"half_space\": {\"point\": [0.99, 0, 0], \"normal\": [1, 0, 0]}}}]}]}",
             m->name, pull);
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.text = text;
    def.text_size = strlen(text);
    sinew_scene *opened = sinew_scene_read(&def, &error);
    must(&error);
    sinew_world *world = sinew_scene_world(opened);
    sinew_world_step(world, NULL);
    sinew_real *q = positions_of(world), masses[8];
    const sinew_real *X = sinew_mesh_positions(sinew_body_mesh(world, sinew_world_body_at(world, 0)));
    sinew_world_get_masses(world, 0, 8, masses);
    double mass = 0;
    for (int i = 0; i < 8; i++) {
        mass += (double)masses[i];
        for (int k = 0; k < 3; k++) {
            const double u = (double)q[3 * i + k] - (double)X[3 * i + k];
            const double expected = (k == 0 ? 1e-3 : -1e-3 * m->poisson) * (double)X[3 * i + k];
            if (fabs(u - expected) > 1e-3 * BAR_EXACT)
                fail_msg("%s: vertex %d moves by %g m along %d, expected %g", m->name, i, u, k, expected);
        }
    }
    assert_true(fabs(mass / m->density - 1) < 1e-5);
    free(q);
    sinew_scene_destroy(opened);
}

static void volumes_are_what_they_say(void **unused)
{
    (void)unused;
    char words[512] = "";
    assert_true(sinew_material_count() + sinew_volume_material_count() <= 64);
    for (int32_t i = 0; i < sinew_volume_material_count(); i++) {
        const sinew_volume_material *m = sinew_volume_material_at(i);
        strcat(words, i ? "|" : "");
        strcat(words, m->name);
        assert_ptr_equal(sinew_volume_material_by_name(m->name), m);
        assert_null(sinew_material_by_name(m->name));
        assert_true(m->density > 10 && m->density < 2e4 && m->young > 1e3 && m->young < 1e12);
        assert_true(m->poisson >= 0 && m->poisson <= 0.49 && strlen(m->source) > 20);
        check_bar(m);
    }
    assert_string_equal(words, SINEW_VOLUME_MATERIAL_NAMES);
    assert_null(sinew_volume_material_by_name("butter"));
    assert_null(sinew_volume_material_at(-1));
    sinew_error error = {0};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_STRAIN);
    sinew_energy_def_set_material(&def, "rubber", &error);
    refused(&error, SINEW_ERROR_DATA, "strain takes nothing of rubber, which is a volume");
    sinew_energy_def_set_material(&def, "ruber", &error);
    refused(&error, SINEW_ERROR_DATA, "did you mean \"rubber\"?");
    def = sinew_default_energy_def(SINEW_ENERGY_MEMBRANE_STVK);
    sinew_energy_def_set_material(&def, "rubber", &error);
    refused(&error, SINEW_ERROR_DATA, "membrane_stvk takes nothing of rubber");
}

/* ---- Damping ----------------------------------------------------------------------------------- */

/* Two masses and a slightly stretched spring: energy after a time, J. */
static double swing(double beta, double drag, double filter, double h, double T)
{
    sinew_world_def def = calm(h, SINEW_SOLVER_NEWTON);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = make_world(&def);
    sinew_mesh *rope = make_rope(2, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    const sinew_real start[6] = {0, 0, 0, (sinew_real)1.1, 0, 0};
    sinew_body_def body = sinew_default_body_def();
    body.mesh = rope;
    body.density = 2; /* 1 kg each */
    body.positions = start;
    body.damping = (sinew_real)drag;
    body.velocity_filter = (sinew_real)filter;
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.body = add_body(world, &body);
    spring.parameters[0] = 50; /* omega = 10 1/s */
    spring.damping = (sinew_real)beta;
    add_energy(world, &spring);
    sinew_error error = {0};
    for (int i = 0; i < (int)(T / h + 0.5); i++) {
        sinew_world_step(world, NULL);
        sinew_balance b;
        sinew_world_balance(world, &b, &error);
        must(&error);
        /* For a short step single precision resolves velocities to about 1e-4 m/s. */
        const double noise = sizeof(sinew_real) == 4 ? 1e-4 * (1 + b.kinetic[0]) : 1e-12;
        assert_true(fabs(b.unaccounted) <= noise + EXACT * (b.kinetic[0] + b.elastic[0]));
        assert_true(b.lost_damping >= -noise);
    }
    sinew_measures m;
    sinew_world_measure(world, &m);
    sinew_mesh_destroy(rope);
    sinew_world_destroy(world);
    return m.kinetic + m.elastic;
}

/* Compared with the same oscillator without damping, which cancels the integrator's own loss. */
static void an_oscillator_loses_energy_as_predicted(void **unused)
{
    (void)unused;
    const double h = sizeof(sinew_real) == 4 ? 1e-3 : 1e-4, T = 3, omega = 10, beta = 0.004, alpha = 0.3;
    const double free_energy = swing(0, 0, 0, h, T);
    const double stiff = log(free_energy / swing(beta, 0, 0, h, T)) / T;
    const double drag = log(free_energy / swing(0, alpha, 0, h, T)) / T;
    printf("Rayleigh: decay %.4f 1/s by stiffness (predicted %.4f), %.4f by mass (predicted %.4f)\n", stiff,
           beta * omega * omega, drag, alpha);
    const double bound = sizeof(sinew_real) == 4 ? 0.1 : 0.02;
    assert_true(fabs(stiff / (beta * omega * omega) - 1) < bound);
    assert_true(fabs(drag / alpha - 1) < bound);
    /* Strong damping neither increases the energy nor reverses the motion. */
    assert_true(swing(1e3, 0, 0, 0.1, 1) < 0.5 * 50 * 0.01 * 1.0001);
    assert_true(swing(0, 0, 1, 0.01, 1) < 0.5 * 50 * 0.01);
}

/* One step of a flying, spinning and, if stretched, stressed body. */
static sinew_measures fly(double beta, double filter, double stretch)
{
    sinew_world_def def = calm(1e-3, SINEW_SOLVER_NEWTON);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(3, 1, 1, 3, 1, 1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x), *v = make_array(3 * (size_t)n, sizeof *v);
    const double omega[3] = {0.3, -0.5, 0.7};
    for (int32_t i = 0; i < 3 * n; i++)
        x[i] = X[i] * (sinew_real)(i % 3 == 0 ? stretch : 1);
    for (int32_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            const int a = (c + 1) % 3, b = (c + 2) % 3;
            v[3 * i + c] = (sinew_real)(1 + omega[a] * (double)x[3 * i + b] - omega[b] * (double)x[3 * i + a]);
        }
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.positions = x;
    body.velocities = v;
    body.velocity_filter = (sinew_real)filter;
    sinew_energy_def rubber = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    rubber.body = add_body(world, &body);
    rubber.parameters[0] = 1e6;
    rubber.damping = (sinew_real)beta;
    add_energy(world, &rubber);
    sinew_world_step(world, NULL);
    sinew_measures m;
    sinew_world_measure(world, &m);
    free(x);
    free(v);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
    return m;
}

/* Damping keeps momenta, stressed or not; without deformation it also keeps the kinetic energy. */
static void rigid_motion_is_left_alone(void **unused)
{
    (void)unused;
    static const double settings[3][2] = {{0.05, 0}, {1e3, 0}, {0, 0.7}};
    for (int k = 0; k < 6; k++) {
        const double stretch = k < 3 ? 1.1 : 1;
        const sinew_measures without = fly(0, 0, stretch), with = fly(settings[k % 3][0], settings[k % 3][1], stretch);
        double worst = 0;
        for (int c = 0; c < 3; c++)
            worst = fmax(worst, fabs(with.angular_momentum[c] - without.angular_momentum[c]) +
                                    fabs(with.linear_momentum[c] - without.linear_momentum[c]));
        printf(
            "stretch %.1f, damping %g s, filter %g: momenta off by %.1e of the mass, kinetic energy %.6g of %.6g J\n",
            stretch, settings[k % 3][0], settings[k % 3][1], worst / without.mass, with.kinetic, without.kinetic);
        assert_true(worst <= (sizeof(sinew_real) == 4 ? 1e-4 : 1e-10) * without.mass);
        assert_true(k < 3 ? with.kinetic < 0.999 * without.kinetic : with.kinetic > (1 - 1e-5) * without.kinetic);
    }
}

/* Velocities less the rigid motion are multiplied by 1 - k, their energy by its square. */
static void the_filter_takes_its_part(void **unused)
{
    (void)unused;
    const double rigid = fly(0, 1, 1.1).kinetic, own = fly(0, 0, 1.1).kinetic - rigid;
    assert_true(own > 1e-3 * rigid);
    for (double k = 0.2; k < 1; k += 0.3) {
        const double left = (fly(0, k, 1.1).kinetic - rigid) / own;
        assert_true(fabs(left - (1 - k) * (1 - k)) < (sizeof(sinew_real) == 4 ? 1e-2 : 1e-9));
    }
}

static void bad_damping_is_refused(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    scene s = make_scene(NULL);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = s.mesh;
    body.velocity_filter = (sinew_real)1.5;
    assert_true(sinew_world_add_body(s.world, &body, &error).index < 0);
    refused(&error, SINEW_ERROR_DATA, "velocity_filter is 1.5, must be in [0, 1]");
    body.velocity_filter = 0;
    body.damping = -1;
    assert_true(sinew_world_add_body(s.world, &body, &error).index < 0);
    refused(&error, SINEW_ERROR_DATA, "damping is -1");
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_PRESSURE);
    def.body = s.body;
    def.damping = 1;
    assert_true(sinew_world_add_energy(s.world, &def, &error).index < 0);
    refused(&error, SINEW_ERROR_DATA, "pressure: a load has no damping");
    def = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    def.body = s.body;
    def.damping = (sinew_real)NAN;
    assert_true(sinew_world_add_energy(s.world, &def, &error).index < 0);
    refused(&error, SINEW_ERROR_DATA, "neo_hookean: damping is nan s");
    free_scene(&s);
}

/* Copies of element data are refreshed when the version rises: a change of the shared weight alone must raise it. */
static void a_shared_weight_counts_as_a_change(void **state)
{
    (void)state;
    sinew_error error = {0};
    const sinew_world_def def = calm(0.01, SINEW_SOLVER_PBNG);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_shell(1);
    const sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    sinew_energy_def pressure = sinew_default_energy_def(SINEW_ENERGY_PRESSURE);
    pressure.body = body;
    const sinew_energy energy = sinew_world_add_energy(world, &pressure, &error);
    must(&error);
    sinew_batch *batch = world->energies[energy.index].batch;
    sinew_real data[16];
    assert_true(batch->ops->data_count <= 16);
    for (int number = 0; number < batch->ops->shared_count; number++) {
        const uint32_t version = batch->version, form = batch->form_version;
        sinew_batch_element(batch, 0, data);
        sinew_batch_set_shared(batch, data);
        assert_int_equal(batch->version, version);
        data[number] += 1;
        sinew_batch_set_shared(batch, data);
        assert_int_equal(batch->version, version + 1);
        assert_int_equal(batch->form_version, form + (number > 0));
    }
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shared_weight_counts_as_a_change),
        cmocka_unit_test(the_potential_is_the_volume),
        cmocka_unit_test(solvers_agree_on_a_balloon),
        cmocka_unit_test(a_gas_comes_to_rest_where_its_law_holds),
        cmocka_unit_test(open_and_turned_surfaces_are_refused),
        cmocka_unit_test(a_gas_needs_volume_at_any_size),
        cmocka_unit_test(materials_are_what_they_say),
        cmocka_unit_test(volumes_are_what_they_say),
        cmocka_unit_test(an_oscillator_loses_energy_as_predicted),
        cmocka_unit_test(rigid_motion_is_left_alone),
        cmocka_unit_test(the_filter_takes_its_part),
        cmocka_unit_test(bad_damping_is_refused),
    };
    return cmocka_run_group_tests(tests, install_hook, remove_hook);
}
