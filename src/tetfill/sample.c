/* SPDX-License-Identifier: MIT
 *
 * sample.c: computes the filled fraction of a tet from samples, and the connected components of the inside within it.
 *
 * The winding number jumps by one across the surface and is smooth elsewhere. Between neighbouring samples only
 * triangle crossings are counted: w = C + sum_i b_i (w_i - C_i). C counts crossings from one corner of the tet through
 * neighbouring samples, w_i are the winding numbers at its corners and b_i the barycentric weights of the sample.
 *
 * Samples connected by a segment inside form one component. Two components are joined if a segment between samples of
 * both lies inside, or if the same patch of the surface bounds both: a thin curved wall that few samples hit stays
 * whole.
 *
 * Short rays from the triangles in the tet find walls that no sample hits. The volume of one side of a wall is the area
 * times half of the distance to the next triangle, if the segment between them is inside.
 */
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "tetfill/fill.h"
#include "tetfill/sample.h"

/* ---- Winding numbers of the samples -------------------------------------------------------------- */

static void place_samples(const fill_pattern *pattern, const double tet[4][3], fill_trace *trace)
{
    memcpy(trace->x[FILL_SAMPLES], tet, 4 * sizeof tet[0]);
    for (int a = 0; a < FILL_SAMPLES; a++)
        for (int c = 0; c < 3; c++)
            trace->x[a][c] = pattern->weights[a][0] * tet[0][c] + pattern->weights[a][1] * tet[1][c] +
                             pattern->weights[a][2] * tet[2][c] + pattern->weights[a][3] * tet[3][c];
}

/* Counts the crossings of one triangle with the links between samples of a tet. */
static void trace_triangle(const fill_surface *s, const fill_pattern *pattern, int32_t t, fill_trace *trace)
{
    bool front[FILL_SAMPLES + 4];
    for (int a = 0; a < FILL_SAMPLES + 4; a++)
        front[a] = sinew_fill_height(s, t, trace->x[a]) >= 0;
    for (int l = 0; l < FILL_LINKS + 4; l++) {
        const fill_link link = pattern->links[l];
        const int from = link.from >= 0 ? link.from : FILL_SAMPLES - 1 - link.from;
        if (front[from] == front[link.to])
            continue;
        const int sign = sinew_fill_pass(s, t, trace->x[from], trace->x[link.to], NULL);
        trace->sum[l] += sign;
        trace->count[l] += sign != 0;
    }
}

/* Sums the signed crossings along links from vertex 0 of the tet to every sample and vertex: the change of the
 * winding number. */
static void sum_crossings_along_links(const fill_pattern *pattern, fill_trace *trace)
{
    int8_t queue[FILL_SAMPLES];
    bool known[FILL_SAMPLES] = {false};
    int begin = 0, end = 0;
    queue[end++] = pattern->links[FILL_LINKS].to;
    known[queue[0]] = true;
    trace->C[queue[0]] = -trace->sum[FILL_LINKS];
    while (begin < end) {
        const int a = queue[begin++];
        for (int i = 0; i < 4 && pattern->link_of[a][i] >= 0; i++) {
            const int l = pattern->link_of[a][i];
            const fill_link link = pattern->links[l];
            const int b = link.from == a ? link.to : link.from;
            if (known[b])
                continue;
            known[b] = true;
            trace->C[b] = trace->C[a] - (link.from == a ? trace->sum[l] : -trace->sum[l]);
            queue[end++] = (int8_t)b;
        }
    }
    for (int v = 0; v < 4; v++)
        trace->C[FILL_SAMPLES + v] = trace->C[pattern->links[FILL_LINKS + v].to] + trace->sum[FILL_LINKS + v];
}

void sinew_fill_trace(const fill_surface *surface, const fill_pattern *pattern, const double tet[4][3],
                      const int32_t *near, int64_t count, fill_trace *trace)
{
    memset(trace->sum, 0, sizeof trace->sum);
    memset(trace->count, 0, sizeof trace->count);
    place_samples(pattern, tet, trace);
    for (int64_t i = 0; i < count; i++)
        trace_triangle(surface, pattern, near[i], trace);
    sum_crossings_along_links(pattern, trace);
}

/* Whether winding numbers and crossing counts of a tet's corners agree. They disagree if the surface has a boundary
 * edge in the tet: counts then depend on the path around it. */
static bool corners_agree(const double w[4], const fill_trace *trace)
{
    double low = INFINITY, high = -INFINITY;
    for (int v = 0; v < 4; v++) {
        low = fmin(low, w[v] - trace->C[FILL_SAMPLES + v]);
        high = fmax(high, w[v] - trace->C[FILL_SAMPLES + v]);
    }
    return high - low < 0.25;
}

static void compute_sample_windings(const fill *f, fill_trace *trace)
{
    sinew_real x[3 * FILL_SAMPLES], w[FILL_SAMPLES];
    for (int i = 0; i < 3 * FILL_SAMPLES; i++)
        x[i] = (sinew_real)trace->x[i / 3][i % 3];
    sinew_tree_winding(f->tree, FILL_SAMPLES, x, w);
    for (int a = 0; a < FILL_SAMPLES; a++)
        trace->w[a] = (double)w[a];
}

/* Computes the winding numbers at a tet's samples from the winding numbers at its corners. Returns the bit set of
 * samples inside. */
static uint64_t fill_sample_find_inside(const fill *f, const double w[4], fill_trace *trace)
{
    uint64_t inside = 0;
    for (int a = 0; a < FILL_SAMPLES; a++) {
        trace->w[a] = trace->C[a];
        for (int v = 0; v < 4; v++)
            trace->w[a] += f->pattern.weights[a][v] * (w[v] - trace->C[FILL_SAMPLES + v]);
    }
    if (!f->surface.closed && !corners_agree(w, trace))
        compute_sample_windings(f, trace);
    for (int a = 0; a < FILL_SAMPLES; a++)
        inside |= (uint64_t)(fabs(trace->w[a]) > FILL_INSIDE) << a;
    return inside;
}

/* ---- Connected components of the inside within a tet --------------------------------------------- */

/* State of one thread for the tet that it samples. */
typedef struct view {
    const fill *f;
    const int32_t *near;
    int64_t near_count;
    fill_trace trace;
    uint64_t components[FILL_SAMPLES]; /* [count] bit set of the samples of each component of the inside */
    int count;
    fill_scratch *scratch;
} view;

static bool segment_is_inside(const view *v, int a, int b)
{
    fill_crossings found;
    sinew_fill_cross(&v->f->surface, v->near, v->near_count, v->trace.x[a], v->trace.x[b], &found);
    return sinew_fill_stays_inside(&found, v->trace.w[a]);
}

/* Flood fill: returns the samples of the set `inside` that are connected to sample `first`. */
static uint64_t flood_component(const view *v, uint64_t inside, int first)
{
    const fill_pattern *pattern = &v->f->pattern;
    uint64_t component = 1ull << first, todo = component;
    while (todo) {
        const int a = __builtin_ctzll(todo);
        todo &= todo - 1;
        for (int i = 0; i < 4 && pattern->link_of[a][i] >= 0; i++) {
            const int l = pattern->link_of[a][i];
            const int b = pattern->links[l].from == a ? pattern->links[l].to : pattern->links[l].from;
            const uint64_t bit = 1ull << b;
            if (!(inside & bit) || component & bit || (v->trace.count[l] > 1 && !segment_is_inside(v, a, b)))
                continue;
            component |= bit;
            todo |= bit;
        }
    }
    return component;
}

static bool components_see_each_other(const view *v, uint64_t a, uint64_t b)
{
    for (uint64_t i = a; i; i &= i - 1)
        for (uint64_t j = b; j; j &= j - 1)
            if (segment_is_inside(v, __builtin_ctzll(i), __builtin_ctzll(j)))
                return true;
    return false;
}

static void join_components(view *v, int a, int b)
{
    v->components[a] |= v->components[b];
    v->components[b] = v->components[--v->count];
}

static void join_visible_components(view *v)
{
    for (int a = 0; a < v->count; a++)
        for (int b = a + 1; b < v->count; b++)
            if (components_see_each_other(v, v->components[a], v->components[b])) {
                join_components(v, a, b);
                b = a;
            }
}

/* ---- Patches of the surface within a tet --------------------------------------------------------- */

static bool meets_box(const sinew_real *p, const sinew_real *q, const double low[3], const double high[3])
{
    for (int c = 0; c < 3; c++)
        if (fmax((double)p[c], (double)q[c]) < low[c] || fmin((double)p[c], (double)q[c]) > high[c])
            return false;
    return true;
}

/* Whether two triangles share an edge or a vertex that reaches into the box low .. high. */
static bool are_joined(const fill_surface *s, int32_t a, int32_t b, const double low[3], const double high[3])
{
    const int32_t *u = s->triangles + 3 * (size_t)a, *v = s->triangles + 3 * (size_t)b;
    int32_t common[3];
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (u[i] == v[0] || u[i] == v[1] || u[i] == v[2])
            common[count++] = u[i];
    return count > 0 && meets_box(s->positions + 3 * (size_t)common[0],
                                  s->positions + 3 * (size_t)common[count > 1 ? 1 : 0], low, high);
}

static int32_t patch_of(int32_t *patch, int32_t i)
{
    while (patch[i] != i)
        i = patch[i] = patch[patch[i]];
    return i;
}

/* Groups the triangles of the tet into patches (scratch->patch) that are connected within the tet's box. */
static void find_patches(view *v)
{
    double low[3], high[3];
    int32_t *patch = v->scratch->patch;
    for (int c = 0; c < 3; c++) {
        const double x[4] = {v->trace.x[64][c], v->trace.x[65][c], v->trace.x[66][c], v->trace.x[67][c]};
        low[c] = fmin(fmin(x[0], x[1]), fmin(x[2], x[3]));
        high[c] = fmax(fmax(x[0], x[1]), fmax(x[2], x[3]));
    }
    for (int32_t i = 0; i < v->near_count; i++)
        patch[i] = i;
    for (int32_t i = 0; i < v->near_count; i++)
        for (int32_t j = 0; j < i; j++)
            if (patch_of(patch, i) != patch_of(patch, j) &&
                are_joined(&v->f->surface, v->near[i], v->near[j], low, high))
                patch[patch_of(patch, i)] = patch_of(patch, j);
}

/* Marks the surface patches that bound a component: the first triangles on the links from its samples to samples
 * outside it. */
static void mark_bounds(view *v, int component, uint64_t bit)
{
    const fill_pattern *pattern = &v->f->pattern;
    for (int l = 0; l < FILL_LINKS; l++) {
        const fill_link link = pattern->links[l];
        const bool from = v->components[component] >> link.from & 1, to = v->components[component] >> link.to & 1;
        if (from == to || v->trace.count[l] == 0)
            continue;
        const double *p = v->trace.x[from ? link.from : link.to], *q = v->trace.x[from ? link.to : link.from];
        double first = 2;
        int32_t found = -1;
        for (int32_t i = 0; i < v->near_count; i++) {
            double at;
            if (sinew_fill_pass(&v->f->surface, v->near[i], p, q, &at) && at < first) {
                first = at;
                found = i;
            }
        }
        if (found >= 0)
            v->scratch->bounds[patch_of(v->scratch->patch, found)] |= bit;
    }
}

static void join_components_of_patches(view *v)
{
    find_patches(v);
    memset(v->scratch->bounds, 0, (size_t)v->near_count * sizeof *v->scratch->bounds);
    for (int p = 0; p < v->count; p++)
        mark_bounds(v, p, 1ull << p);
    int32_t into[FILL_SAMPLES];
    for (int32_t p = 0; p < v->count; p++)
        into[p] = p;
    for (int64_t i = 0; i < v->near_count; i++) {
        const uint64_t bits = v->scratch->bounds[i];
        for (uint64_t rest = bits & (bits - 1); bits && rest; rest &= rest - 1) {
            const int32_t a = patch_of(into, __builtin_ctzll(bits)), b = patch_of(into, __builtin_ctzll(rest));
            into[a > b ? a : b] = a < b ? a : b;
        }
    }
    int kept = 0;
    for (int32_t p = 0; p < v->count; p++)
        if (patch_of(into, p) != p)
            v->components[patch_of(into, p)] |= v->components[p];
    for (int32_t p = 0; p < v->count; p++)
        if (into[p] == p)
            v->components[kept++] = v->components[p];
    v->count = kept;
}

/* ---- Walls that are thinner than the distance of samples ----------------------------------------- */

/* Clips a polygon of at most 8 corners by the plane of a tet's face. Returns the number of remaining corners. */
static int clip_polygon(double (*polygon)[3], int count, const double tet[4][3], int face)
{
    const double *p = tet[sinew_tet_faces[face][0]];
    double u[3], v[3], normal[3], kept[8][3];
    int left = 0;
    for (int c = 0; c < 3; c++) {
        u[c] = tet[sinew_tet_faces[face][1]][c] - p[c];
        v[c] = tet[sinew_tet_faces[face][2]][c] - p[c];
    }
    for (int c = 0; c < 3; c++)
        normal[c] = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3];
    for (int i = 0; i < count; i++) {
        const double *a = polygon[i], *b = polygon[(i + 1) % count];
        double over[2] = {0, 0};
        for (int c = 0; c < 3; c++) {
            over[0] += normal[c] * (a[c] - p[c]);
            over[1] += normal[c] * (b[c] - p[c]);
        }
        if (over[0] <= 0 && left < 8)
            memcpy(kept[left++], a, sizeof kept[0]);
        if ((over[0] <= 0) != (over[1] <= 0) && left < 8) {
            for (int c = 0; c < 3; c++)
                kept[left][c] = a[c] + over[0] / (over[0] - over[1]) * (b[c] - a[c]);
            left++;
        }
    }
    memcpy(polygon, kept, (size_t)left * sizeof kept[0]);
    return left;
}

/* Area in m2 and centre of a triangle's intersection with the tet, and the triangle's unit normal. */
static double area_in_tet(const view *v, int32_t t, double centre[3], double normal[3])
{
    const fill_surface *s = &v->f->surface;
    double polygon[8][3], sum[3] = {0}, u[3], w[3];
    int count = 3;
    for (size_t i = 0; i < 3; i++)
        for (size_t c = 0; c < 3; c++)
            polygon[i][c] = (double)s->positions[3 * (size_t)s->triangles[3 * (size_t)t + i] + c];
    for (int face = 0; face < 4 && count > 2; face++)
        count = clip_polygon(polygon, count, (const double(*)[3])(v->trace.x + FILL_SAMPLES), face);
    memset(centre, 0, 3 * sizeof *centre);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            centre[c] += polygon[i][c] / count;
    for (int i = 1; i + 1 < count; i++) {
        for (int c = 0; c < 3; c++) {
            u[c] = polygon[i][c] - polygon[0][c];
            w[c] = polygon[i + 1][c] - polygon[0][c];
        }
        for (int c = 0; c < 3; c++)
            sum[c] += (u[(c + 1) % 3] * w[(c + 2) % 3] - u[(c + 2) % 3] * w[(c + 1) % 3]) / 2;
    }
    const double area = vec3_norm(sum);
    for (int c = 0; c < 3; c++)
        normal[c] = area > 0 ? sum[c] / area : 0;
    return count > 2 ? area : 0;
}

/* Distance in m to the next triangle on one side of a point of the surface, if the segment between them is inside; 0:
 * none is near. */
static double wall_thickness(const view *v, const double centre[3], const double normal[3], double side)
{
    const double a = v->f->lattice.cell;
    sinew_ray ray = {.from = (sinew_real)(1e-5 * a), .to = (sinew_real)(FILL_THIN * a)};
    sinew_ray_hit hit;
    sinew_real middle[3], winding;
    for (int c = 0; c < 3; c++) {
        ray.origin[c] = (sinew_real)centre[c];
        ray.direction[c] = (sinew_real)(side * normal[c]);
    }
    if (!sinew_tree_ray(v->f->tree, &ray, &hit))
        return 0;
    for (int c = 0; c < 3; c++)
        middle[c] = (sinew_real)(centre[c] + side * normal[c] * (double)hit.t / 2);
    sinew_tree_winding(v->f->tree, 1, middle, &winding);
    return fabs((double)winding) > FILL_INSIDE ? (double)hit.t : 0;
}

/* Volume in m3 of the walls in a tet that are thin enough for rays. `only`: returns -1 if other triangles, with more
 * than a quarter of the walls' area, also bound the inside; the rim of a wall has less. */
static double thin_volume(const view *v, bool only)
{
    double volume = 0, walls = 0, others = 0;
    for (int64_t i = 0; i < v->near_count; i++) {
        double centre[3], normal[3];
        const double area = area_in_tet(v, v->near[i], centre, normal);
        if (!(area > 0))
            continue;
        const double thick = wall_thickness(v, centre, normal, 1) + wall_thickness(v, centre, normal, -1);
        walls += thick > 0 ? area : 0;
        others += thick > 0 ? 0 : area;
        volume += area / 2 * thick;
    }
    return only && others > walls / 4 ? -1 : volume;
}

/* ---- Filled fraction and components of every sampled tet ----------------------------------------- */

static void store_components(view *v, int64_t t)
{
    fill_tets *tets = &v->scratch->f->tets;
    while (v->count > FILL_COMPONENTS_MAX)
        join_components(v, FILL_COMPONENTS_MAX - 1, v->count - 1);
    tets->component_count[t] = (uint8_t)v->count;
    for (int p = 0; p < v->count; p++) {
        tets->component[t][p] = v->components[p];
        tets->fraction[t][p] = (float)__builtin_popcountll(v->components[p]) / FILL_SAMPLES;
    }
}

/* Replaces the filled fraction of a tet that contains only a thin wall by the volume that rays measure: such a wall may
 * contain a whole layer of samples or none. */
static void measure_wall(const view *v, int64_t t)
{
    fill_tets *tets = &v->scratch->f->tets;
    const double a = v->f->lattice.cell;
    if (v->count != 1 || v->near_count == 0 || __builtin_popcountll(v->components[0]) > FILL_SAMPLES / 2)
        return;
    const double volume = thin_volume(v, true) / (a * a * a / 12);
    if (volume > 0)
        tets->fraction[t][0] = (float)fmax(FILL_MIN, fmin(volume, 1));
}

static void store_thin_wall(const view *v, int64_t t)
{
    fill_tets *tets = &v->scratch->f->tets;
    const double a = v->f->lattice.cell, volume = thin_volume(v, false) / (a * a * a / 12);
    tets->component_count[t] = volume > 0;
    tets->fraction[t][0] = (float)fmax(FILL_MIN, fmin(volume, 1.0 / FILL_SAMPLES));
}

uint64_t sinew_fill_sample_tet(const fill *f, int64_t t, fill_trace *trace)
{
    const fill_lattice *l = &f->lattice;
    int64_t points[4];
    double tet[4][3], w[4];
    sinew_fill_corners(l, f->tets.number[t], points);
    for (int i = 0; i < 4; i++) {
        sinew_fill_point(l, points[i], tet[i]);
        w[i] = (double)l->winding[points[i]];
    }
    sinew_fill_trace(&f->surface, &f->pattern, (const double(*)[3])tet, f->tets.near + f->tets.first[t],
                     f->tets.first[t + 1] - f->tets.first[t], trace);
    return fill_sample_find_inside(f, w, trace);
}

static void sample_tet(const fill *f, fill_scratch *scratch, int64_t t)
{
    view v = {.f = f, .near = f->tets.near + f->tets.first[t], .scratch = scratch};
    v.near_count = f->tets.first[t + 1] - f->tets.first[t];
    const uint64_t inside = sinew_fill_sample_tet(f, t, &v.trace);
    if (!inside) {
        store_thin_wall(&v, t);
        return;
    }
    const bool crowded = f->def->split && v.near_count > FILL_NEAR_MAX, split = f->def->split && !crowded;
    if (!split)
        v.components[v.count++] = inside;
    for (uint64_t rest = split ? inside : 0; rest; rest &= ~v.components[v.count - 1])
        v.components[v.count++] = flood_component(&v, rest, __builtin_ctzll(rest));
    if (v.count > 1)
        join_visible_components(&v);
    if (v.count > 1)
        join_components_of_patches(&v);
    scratch->capped += crowded || v.count > FILL_COMPONENTS_MAX;
    store_components(&v, t);
    measure_wall(&v, t);
    for (uint64_t rest = inside; rest; rest &= rest - 1)
        scratch->max = fmax(scratch->max, fabs(v.trace.w[__builtin_ctzll(rest)]));
}

typedef struct sample_work {
    fill_scratch *scratch; /* [thread_count] work space of each thread that samples tets */
} sample_work;

static void sample_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    fill_scratch *scratch = ((const sample_work *)context)->scratch + member;
    const fill *f = scratch->f;
    for (int64_t t = first; t < last; t++) {
        if (f->tets.sampled[t]) {
            sample_tet(f, scratch, t);
        } else {
            scratch->max = fmax(scratch->max, 1);
            scratch->f->tets.component_count[t] = 1;
            scratch->f->tets.component[t][0] = ~0ull;
            scratch->f->tets.fraction[t][0] = 1;
        }
    }
}

static int64_t max_near(const fill_tets *tets)
{
    int64_t max = 0;
    for (int64_t t = 0; t < tets->count; t++)
        max = tets->first[t + 1] - tets->first[t] > max ? tets->first[t + 1] - tets->first[t] : max;
    return max;
}

sinew_status sinew_fill_sample(fill *f)
{
    const size_t members = (size_t)f->thread_count, max = (size_t)max_near(&f->tets);
    fill_scratch *scratch = sinew_allocate_zero(&f->allocator, members, sizeof *scratch);
    int32_t *patches = sinew_allocate(&f->allocator, members * max, sizeof *patches);
    uint64_t *bounds = sinew_allocate(&f->allocator, members * max, sizeof *bounds);
    const bool good = scratch && patches && bounds;
    for (size_t m = 0; good && m < members; m++)
        scratch[m] = (fill_scratch){.f = f, .patch = patches + m * max, .bounds = bounds + m * max};
    if (good)
        sinew_tasks_for(f->thread_count, (int32_t)f->tets.count, FILL_BLOCK, sample_range, &(sample_work){scratch});
    for (size_t m = 0; good && m < members; m++) {
        f->capped += scratch[m].capped;
        f->max = fmax(f->max, scratch[m].max);
    }
    sinew_release(&f->allocator, scratch);
    sinew_release(&f->allocator, patches);
    sinew_release(&f->allocator, bounds);
    return good ? SINEW_OK : sinew_fail_memory(f->error, "the samples of a lattice");
}
