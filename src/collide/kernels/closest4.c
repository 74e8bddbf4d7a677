/* SPDX-License-Identifier: MIT
 *
 * closest4.c: the closest points of four candidate pairs at once, in SIMD vectors.
 *
 * The arithmetic and its order equal those of closest.h, but every border is tried, with masks instead of branches:
 * results have the same bits. closest.c handles flat triangles, interior solutions of triangles that are not steep
 * (closest.h), and (almost) coincident pairs one by one.
 */
#include "collide/narrow_phase.h"
#include "math/simd.h"

typedef double four __attribute__((vector_size(32)));
typedef int64_t four_mask __attribute__((vector_size(32)));

typedef struct closest_four {
    four w[4], z[3], d2;
} closest_four;

static inline four four_set(double a)
{
    return a - (four){0};
}

static inline four four_pick(four_mask m, four a, four b)
{
#if defined(__AVX2__)
    return (four)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
#else
    return (four)(((four_mask)a & m) | ((four_mask)b & ~m));
#endif
}

static inline four four_dot(const four a[3], const four b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void four_cross(const four a[3], const four b[3], four out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void four_minus(const four a[3], const four b[3], four out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

/* closest_on_segment() of closest.h for four pairs at once, in SIMD lanes. */
static inline four four_on_segment(const four from_a[3], const four from_b[3], const four along[3], four z[3])
{
    const four none = four_set(0), one = four_set(1);
    const four length2 = four_dot(along, along), at = four_dot(from_a, along);
    const four_mask end = (four_mask)(at >= length2) & (four_mask)(length2 > none);
    const four t = four_pick((four_mask)(at > none) & ~end, at / length2, none);
    for (int k = 0; k < 3; k++)
        z[k] = four_pick(end, from_b[k], from_a[k] - t * along[k]);
    return four_pick(end, one, t);
}

/* Per pair: replaces z and the weights of `best` if the mask is set and z is shorter than the best vector so far. */
static inline void four_take(closest_four *best, four_mask wanted, const four z[3], four d2, const four w[4])
{
    const four_mask take = wanted & (four_mask)(d2 < best->d2);
    for (int k = 0; k < 3; k++)
        best->z[k] = four_pick(take, z[k], best->z[k]);
    for (int a = 0; a < 4; a++)
        best->w[a] = four_pick(take, w[a], best->w[a]);
    best->d2 = four_pick(take, d2, best->d2);
}

/* ---- Closest points of four pairs of edges ------------------------------------------------------ */

/* closest_try_end() of closest.h for four pairs: end `end` of the first edge (`turned`: of the second) and the other
 * edge. */
static inline void four_try_end(four x[4][3], int end, bool turned, four_mask wanted, closest_four *best)
{
    four(*p)[3] = turned ? x + 2 : x, (*q)[3] = turned ? x : x + 2;
    four from_a[3], from_b[3], along[3], z[3], w[4];
    const four none = four_set(0), one = four_set(1);
    four_minus(p[end], q[0], from_a);
    four_minus(p[end], q[1], from_b);
    four_minus(q[1], q[0], along);
    const four t = four_on_segment(from_a, from_b, along, z);
    const four d2 = four_dot(z, z);
    four *own = w + (turned ? 2 : 0), *other = w + (turned ? 0 : 2);
    own[end] = turned ? none - one : one;
    own[1 - end] = none;
    other[0] = turned ? one - t : t - one;
    other[1] = turned ? t : none - t;
    for (int k = 0; k < 3; k++)
        z[k] = turned ? none - z[k] : z[k];
    four_take(best, wanted, z, d2, w);
}

/* closest_segments() of closest.h for four pairs at once, in SIMD lanes. */
static inline void four_edges(four x[4][3], closest_four *best)
{
    four u[3], v[3], r[3], n[3], c[3], z[3];
    const four none = four_set(0), one = four_set(1);
    four_minus(x[1], x[0], u);
    four_minus(x[3], x[2], v);
    four_minus(x[0], x[2], r);
    four_cross(u, v, n);
    const four nn = four_dot(n, n);
    four_cross(v, r, c);
    const four s = four_dot(c, n) / nn;
    four_cross(u, r, c);
    four t = four_dot(c, n) / nn;
    const four vv = four_dot(v, v), size = four_dot(u, u) * vv;
    const four_mask flat = ~(four_mask)(nn > SINEW_FLAT * size), steep = (four_mask)(nn > SINEW_STEEP * size);
    const four_mask inside =
        (four_mask)(s >= none) & (four_mask)(s <= one) & (four_mask)(t >= none) & (four_mask)(t <= one);
    four_try_end(x, 0, false, flat | (four_mask)(s < none), best);
    four_try_end(x, 1, false, flat | (four_mask)(s > one), best);
    four_try_end(x, 0, true, flat | (four_mask)(t < none), best);
    four_try_end(x, 1, true, flat | (four_mask)(t > one), best);
    const four height = four_dot(n, r) / nn;
    for (int k = 0; k < 3; k++)
        z[k] = r[k] + s * u[k];
    four below = four_dot(z, v) / vv;
    below = four_pick((four_mask)(below < none), none, four_pick((four_mask)(below > one), one, below));
    t = four_pick(steep, t, below);
    for (int k = 0; k < 3; k++)
        z[k] = four_pick(steep, height * n[k], z[k] - t * v[k]);
    const four d2 = four_pick(steep, height * height * nn, four_dot(z, z)), w[4] = {one - s, s, t - one, none - t};
    four_take(best, inside, z, d2, w);
}

/* ---- Closest points of four vertices and triangles ---------------------------------------------- */

/* closest_try_side() of closest.h for four pairs at once, in SIMD lanes. */
static inline void four_try_side(four x[4][3], four r[3][3], int i, four_mask wanted, closest_four *best)
{
    const int j = (i + 1) % 3;
    four along[3], z[3], w[4];
    const four none = four_set(0), one = four_set(1);
    four_minus(x[1 + j], x[1 + i], along);
    const four t = four_on_segment(r[i], r[j], along, z);
    w[0] = one;
    w[1 + i] = t - one;
    w[1 + j] = none - t;
    w[1 + (i + 2) % 3] = none;
    four_take(best, wanted, z, four_dot(z, z), w);
}

/* closest_triangle() of closest.h for four pairs at once; the returned mask marks pairs that closest.c must handle. */
static inline four_mask four_triangle(four x[4][3], closest_four *best)
{
    four r[3][3], e[2][3], n[3], area[3], c[3], z[3], w[4];
    const four none = four_set(0);
    for (int i = 0; i < 3; i++)
        four_minus(x[0], x[1 + i], r[i]);
    four_minus(x[2], x[1], e[0]);
    four_minus(x[3], x[1], e[1]);
    four_cross(e[0], e[1], n);
    for (int i = 0; i < 3; i++) {
        four_cross(r[(i + 1) % 3], r[(i + 2) % 3], c);
        area[i] = four_dot(c, n);
    }
    const four nn = four_dot(n, n), sum = area[0] + area[1] + area[2];
    const four aa = four_dot(e[0], e[0]), bb = four_dot(e[1], e[1]), size = aa * bb;
    const four_mask round = (four_mask)(nn > SINEW_FLAT * size) & (four_mask)(sum > none) &
                            (four_mask)(aa > SINEW_FLAT * bb) & (four_mask)(bb > SINEW_FLAT * aa);
    const four_mask inside = (four_mask)(area[0] >= none) & (four_mask)(area[1] >= none) &
                             (four_mask)(area[2] >= none) & (four_mask)(sum > none);
    const four_mask steep = (four_mask)(nn > SINEW_STEEP * size);
    for (int i = 0; i < 3; i++)
        four_try_side(x, r, i, (four_mask)(area[(i + 2) % 3] < none), best);
    const four height = four_dot(n, r[0]), fraction = height / nn;
    w[0] = four_set(1);
    for (int k = 0; k < 3; k++) {
        z[k] = fraction * n[k];
        w[1 + k] = none - area[k] / sum;
    }
    four_take(best, inside & steep, z, fraction * height, w);
    return ~round | (inside & ~steep);
}

/* ---- Closest points of candidate pairs ---------------------------------------------------------- */

static inline void load_corners(sinew_candidate *const pairs[4], const sinew_real *x, four out[4][3])
{
    for (int a = 0; a < 4; a++) {
        const sinew_real *p[4];
        for (int i = 0; i < 4; i++)
            p[i] = x + 4 * (size_t)pairs[i]->v[a];
        for (int k = 0; k < 3; k++)
            out[a][k] = (four){(double)p[0][k], (double)p[1][k], (double)p[2][k], (double)p[3][k]};
    }
}

/* Closest points of four candidate pairs of one kind, whose faces are triangles; the caller repeats the last pair to
 * fill four. */
void SINEW_SIMD_SYMBOL(sinew_closest_of_four)(sinew_candidate *const pairs[4], const sinew_real *x,
                                              const double radii[4]);
void SINEW_SIMD_SYMBOL(sinew_closest_of_four)(sinew_candidate *const pairs[4], const sinew_real *x,
                                              const double radii[4])
{
    four corners[4][3], hard = {0};
    closest_four best = {.d2 = four_set(INFINITY)};
    load_corners(pairs, x, corners);
    if (pairs[0]->kind == SINEW_CANDIDATE_EDGE_EDGE)
        four_edges(corners, &best);
    else
        hard = (four)four_triangle(corners, &best);
    const four_mask left =
        (four_mask)hard | ~((four_mask)(best.d2 > four_set(1e-280)) & (four_mask)(best.d2 < four_set(INFINITY)));
    const four length = {sqrt(best.d2[0]), sqrt(best.d2[1]), sqrt(best.d2[2]), sqrt(best.d2[3])};
    for (int k = 0; k < 3; k++)
        best.z[k] /= length;
    for (int i = 0; i < 4; i++) {
        sinew_candidate *pair = pairs[i];
        if (left[i]) {
            sinew_candidate_closest_with_radii(pair, x, radii[i]);
            continue;
        }
        pair->distance = (sinew_real)(length[i] - radii[i]);
        pair->zero_weights = 0;
        for (int k = 0; k < 3; k++)
            pair->n[k] = (sinew_real)best.z[k][i];
        for (int a = 0; a < 4; a++) {
            pair->w[a] = (sinew_real)best.w[a][i];
            pair->zero_weights |= (uint8_t)((pair->w[a] == 0) << a);
        }
    }
}
