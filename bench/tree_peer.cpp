/* SPDX-License-Identifier: MIT
 *
 * tree_peer.cpp: see tree_peer.h. Single rays, as in the library; closest points through rtcPointQuery, whose callback
 * computes the distance of a triangle by its Voronoi regions (Ericson).
 */
#include "tree_peer.h"

#ifdef SINEW_PEER_EMBREE

#include <embree3/rtcore.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

struct tree_peer {
    RTCDevice device;
    RTCScene scene;
    std::vector<float> positions;
    std::vector<int32_t> triangles;
};

namespace
{

struct vec {
    float x, y, z;
};

vec operator-(vec a, vec b)
{
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}

vec along(vec a, float s, vec b)
{
    return {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

float dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

vec nearest_point(vec p, vec a, vec b, vec c)
{
    const vec ab = b - a, ac = c - a, ap = p - a;
    const float d1 = dot(ab, ap), d2 = dot(ac, ap);
    if (d1 <= 0 && d2 <= 0)
        return a;
    const vec bp = p - b;
    const float d3 = dot(ab, bp), d4 = dot(ac, bp);
    if (d3 >= 0 && d4 <= d3)
        return b;
    const vec cp = p - c;
    const float d5 = dot(ab, cp), d6 = dot(ac, cp);
    if (d6 >= 0 && d5 <= d6)
        return c;
    const float vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0)
        return along(a, d1 / (d1 - d3), ab);
    const float vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0)
        return along(a, d2 / (d2 - d6), ac);
    const float va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        return along(b, (d4 - d3) / ((d4 - d3) + (d5 - d6)), c - b);
    const float inverse = 1 / (va + vb + vc);
    return along(along(a, vb * inverse, ab), vc * inverse, ac);
}

struct nearest_found {
    const tree_peer *peer;
    int32_t triangle;
};

bool visit(RTCPointQueryFunctionArguments *arguments)
{
    auto *found = static_cast<nearest_found *>(arguments->userPtr);
    RTCPointQuery *query = arguments->query;
    const vec p = {query->x, query->y, query->z};
    vec corner[3];
    for (int i = 0; i < 3; i++) {
        const float *x = &found->peer->positions[3 * size_t(found->peer->triangles[3 * size_t(arguments->primID) + i])];
        corner[i] = {x[0], x[1], x[2]};
    }
    const vec away = p - nearest_point(p, corner[0], corner[1], corner[2]);
    const float distance = std::sqrt(dot(away, away));
    if (distance >= query->radius)
        return false;
    query->radius = distance;
    found->triangle = int32_t(arguments->primID);
    return true;
}

RTCRay ray_of(const float origin[3], const float direction[3])
{
    RTCRay ray = {};
    ray.org_x = origin[0];
    ray.org_y = origin[1];
    ray.org_z = origin[2];
    ray.dir_x = direction[0];
    ray.dir_y = direction[1];
    ray.dir_z = direction[2];
    ray.tfar = std::numeric_limits<float>::infinity();
    ray.mask = ~0u;
    return ray;
}

} // namespace

tree_peer *tree_peer_create(int32_t threads, int32_t vertex_count, const float *positions, int32_t triangle_count,
                            const int32_t *triangles)
{
    auto *peer = new tree_peer;
    peer->positions.assign(positions, positions + 3 * size_t(vertex_count));
    peer->triangles.assign(triangles, triangles + 3 * size_t(triangle_count));
    peer->device = rtcNewDevice(threads == 1 ? "threads=1" : "threads=2");
    peer->scene = rtcNewScene(peer->device);
    RTCGeometry geometry = rtcNewGeometry(peer->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    void *to =
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, size_t(vertex_count));
    std::copy(peer->positions.begin(), peer->positions.end(), static_cast<float *>(to));
    to = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, size_t(triangle_count));
    std::copy(peer->triangles.begin(), peer->triangles.end(), static_cast<int32_t *>(to));
    rtcSetGeometryPointQueryFunction(geometry, visit);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(peer->scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(peer->scene);
    return peer;
}

void tree_peer_destroy(tree_peer *peer)
{
    rtcReleaseScene(peer->scene);
    rtcReleaseDevice(peer->device);
    delete peer;
}

int32_t tree_peer_ray(const tree_peer *peer, const float origin[3], const float direction[3], float *t)
{
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRayHit hit = {ray_of(origin, direction), {}};
    hit.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(peer->scene, &context, &hit);
    *t = hit.ray.tfar;
    return hit.hit.geomID == RTC_INVALID_GEOMETRY_ID ? -1 : int32_t(hit.hit.primID);
}

bool tree_peer_any(const tree_peer *peer, const float origin[3], const float direction[3])
{
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    RTCRay ray = ray_of(origin, direction);
    rtcOccluded1(peer->scene, &context, &ray);
    return ray.tfar < 0;
}

int32_t tree_peer_nearest(const tree_peer *peer, const float point[3], float *distance)
{
    RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    RTCPointQuery query = {point[0], point[1], point[2], 0, std::numeric_limits<float>::infinity()};
    nearest_found found = {peer, -1};
    rtcPointQuery(peer->scene, &query, &context, nullptr, &found);
    *distance = query.radius;
    return found.triangle;
}

#else

tree_peer *tree_peer_create(int32_t, int32_t, const float *, int32_t, const int32_t *)
{
    return nullptr;
}

void tree_peer_destroy(tree_peer *) {}

int32_t tree_peer_ray(const tree_peer *, const float *, const float *, float *)
{
    return -1;
}

bool tree_peer_any(const tree_peer *, const float *, const float *)
{
    return false;
}

int32_t tree_peer_nearest(const tree_peer *, const float *, float *)
{
    return -1;
}

#endif
