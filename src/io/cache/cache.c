/* SPDX-License-Identifier: MIT
 *
 * cache.c: writes frames of a world for other programs, common code of all formats.
 *
 * A cache is opened once, receives frames in order and is closed. The first failure removes unfinished files
 * immediately (which frees a full disk; a resumable cache keeps them), is stored, and is reported by every later call.
 *
 * Known limit: bodies must not be added or removed while a cache is open. The number of points changes only if a body
 * tears and the format has the operation reshape.
 */
#include "io/cache/cache.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const sinew_cache_ops *const formats[SINEW_CACHE_COUNT] = {
    [SINEW_CACHE_PC2] = &sinew_cache_pc2,   [SINEW_CACHE_OBJ] = &sinew_cache_obj, [SINEW_CACHE_VTU] = &sinew_cache_vtu,
    [SINEW_CACHE_GLTF] = &sinew_cache_gltf, [SINEW_CACHE_CSV] = &sinew_cache_csv, [SINEW_CACHE_NPY] = &sinew_cache_npy,
    [SINEW_CACHE_USDA] = &sinew_cache_usda,
};

const char *sinew_cache_format_name(sinew_cache_format format)
{
    return (size_t)format < SINEW_CACHE_COUNT ? formats[format]->name : "unknown";
}

sinew_cache_format sinew_cache_format_by_name(const char *name)
{
    for (int i = 0; name && i < SINEW_CACHE_COUNT; i++)
        if (strcmp(name, formats[i]->name) == 0)
            return (sinew_cache_format)i;
    return SINEW_CACHE_COUNT;
}

sinew_cache_def sinew_default_cache_def(void)
{
    return (sinew_cache_def){
        .cookie = SINEW_COOKIE_CACHE,
        .directory = ".",
        .name = "cache",
        .format = SINEW_CACHE_PC2,
        .frame_time = (sinew_real)(1.0 / 60.0),
        .fields_if_any = SINEW_CACHE_USUAL_FIELDS,
        .morph_frames = 120,
    };
}

static sinew_status check_directory(const char *directory, sinew_error *error)
{
    struct stat facts;
    if (stat(directory, &facts) != 0)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot write a cache there: %s", directory, strerror(errno));
    if (!S_ISDIR(facts.st_mode))
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot write a cache there: is not a directory", directory);
    if (access(directory, W_OK | X_OK) != 0)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot write a cache there: %s", directory, strerror(errno));
    return SINEW_OK;
}

static sinew_status cache_check_def(const sinew_cache_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_CACHE))
        return sinew_fail(error, SINEW_ERROR_USAGE, "cache: the def must come from sinew_default_cache_def()");
    if (!SINEW_ASSERT(def->world && def->directory && def->name))
        return sinew_fail(error, SINEW_ERROR_USAGE, "cache: world, directory and name must be given");
    if ((size_t)def->format >= SINEW_CACHE_COUNT)
        return sinew_fail(error, SINEW_ERROR_USAGE, "cache: format %d is none of sinew_cache_format", (int)def->format);
    if (!def->name[0] || strchr(def->name, '/'))
        return sinew_fail(error, SINEW_ERROR_DATA, "cache: \"%s\" is no file name; give one without '/'", def->name);
    if (strlen(def->directory) + 1 + strlen(def->name) >= sizeof((sinew_cache *)0)->stem)
        return sinew_fail(error, SINEW_ERROR_FILE, "%.60s...: the path of the cache is too long", def->directory);
    if (def->frame_count < 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "cache %s: frame_count is %d; 0 where not known", def->name,
                          (int)def->frame_count);
    if (def->first_frame < 0 || def->kept_frames < 0 || def->first_frame > INT32_MAX - def->kept_frames)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "cache %s: first_frame is %d and kept_frames %d; both are at least 0", def->name,
                          (int)def->first_frame, (int)def->kept_frames);
    if (def->morph_frames < 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "cache %s: morph_frames is %d; it is at least 1, or 0 for all",
                          def->name, (int)def->morph_frames);
    if (!(def->frame_time > 0) || !isfinite(def->frame_time))
        return sinew_fail(error, SINEW_ERROR_DATA, "cache %s: frame_time is %g s; it must be greater than 0", def->name,
                          (double)def->frame_time);
    if (sinew_world_particle_count(def->world) <= 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "cache %s: the world has no particles; add a body first", def->name);
    return check_directory(def->directory, error);
}

/* Frees the cache's data that all formats share. The format's own data must be freed before by the operation drop. */
static void cache_release(sinew_cache *cache)
{
    sinew_allocator allocator = cache->allocator;
    sinew_release(&allocator, cache->own);
    sinew_release(&allocator, cache->bodies);
    sinew_release(&allocator, cache->q);
    sinew_release(&allocator, cache->v);
    sinew_release(&allocator, cache);
}

/* Finds the points of the current topology and allocates cache->q and cache->v for them. */
static sinew_status cache_find_points(sinew_cache *cache, sinew_error *error)
{
    const sinew_status status = sinew_cache_points_open(cache, error);
    if (status != SINEW_OK)
        return status;
    sinew_release(&cache->allocator, cache->q);
    sinew_release(&cache->allocator, cache->v);
    cache->q = sinew_allocate(&cache->allocator, (size_t)cache->point_count, 3 * sizeof *cache->q);
    cache->v = sinew_allocate(&cache->allocator, (size_t)cache->point_count, 3 * sizeof *cache->v);
    return cache->q && cache->v ? SINEW_OK : sinew_fail_memory(error, "the buffers of a cache");
}

/* Fails when a cache is opened if bodies may tear and all frames of the format share one topology. */
static sinew_status check_tearing_supported(const sinew_cache_def *def, sinew_error *error)
{
    if (formats[def->format]->reshape || !sinew_cache_tears(def->world))
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "cache %s: a body tears, and all frames of %s have the same cells; use obj or vtu", def->name,
                      formats[def->format]->name);
}

static sinew_cache *cache_make(const sinew_cache_def *def, sinew_error *error)
{
    sinew_allocator allocator = sinew_allocator_or_system(&def->allocator);
    sinew_cache *cache = sinew_allocate_zero(&allocator, 1, sizeof *cache);
    if (!cache) {
        sinew_fail_memory(error, "a cache");
        return NULL;
    }
    cache->allocator = allocator;
    cache->ops = formats[def->format];
    cache->world = def->world;
    cache->expected = def->frame_count;
    cache->first = def->first_frame;
    cache->kept = cache->frame_count = cache->synced = def->kept_frames;
    /* a resumed cache keeps the frames of the earlier run after a failure */
    cache->resumable = def->resumable || def->kept_frames > 0;
    cache->frame_time = (double)def->frame_time;
    cache->fields = def->fields;
    cache->fields_if_any = def->fields_if_any;
    cache->morph_frames = def->morph_frames;
    cache->whole_bodies = def->bodies || cache->ops->bodies;
    int length = snprintf(cache->stem, sizeof cache->stem, "%s/%s", def->directory, def->name);
    cache->name = cache->stem + ((size_t)length - strlen(def->name));
    cache->own = sinew_allocate_zero(&allocator, 1, cache->ops->own_size);
    if (!cache->own)
        sinew_fail_memory(error, "the buffers of a cache");
    if (cache->own && cache_find_points(cache, error) == SINEW_OK)
        return cache;
    cache_release(cache);
    return NULL;
}

sinew_cache *sinew_cache_open(const sinew_cache_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (cache_check_def(def, error) != SINEW_OK || check_tearing_supported(def, error) != SINEW_OK)
        return NULL;
    sinew_cache *cache = cache_make(def, error);
    if (!cache)
        return NULL;
    if (cache->ops->open(cache, error) != SINEW_OK) {
        cache->ops->drop(cache);
        cache_release(cache);
        return NULL;
    }
    return cache;
}

/* Sets cache->q, v and time to the state of the world, after a reshape if bodies tore. Fails if bodies were added or
 * removed, or if a value is not finite. */
static sinew_status cache_fetch(sinew_cache *cache, sinew_error *error)
{
    int32_t count = sinew_world_particle_count(cache->world);
    sinew_status status = SINEW_OK;
    const bool changed = sinew_world_shape_version(cache->world) != cache->shape_version;
    if (changed && cache->ops->reshape && sinew_cache_tears(cache->world)) {
        status = cache_find_points(cache, error);
        if (status == SINEW_OK)
            status = cache->ops->reshape(cache, error);
        count = cache->particle_count;
    }
    if (status != SINEW_OK)
        return status;
    if (count != cache->particle_count)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "%s: frame %d has %d particles, the cache was opened for %d; open it after adding bodies",
                          cache->stem, (int)cache->frame_count, (int)count, (int)cache->particle_count);
    if (sinew_world_shape_version(cache->world) != cache->shape_version)
        return sinew_fail(
            error, SINEW_ERROR_DATA,
            "%s: frame %d: bodies came or went, or have other cells, since the cache was opened; open one "
            "for what is there now",
            cache->stem, (int)cache->frame_count);
    status = sinew_cache_points_fetch(cache);
    if (status != SINEW_OK)
        return sinew_fail(error, status, "%s: frame %d: the world does not give its state", cache->stem,
                          (int)cache->frame_count);
    for (size_t i = 0; i < 3 * (size_t)cache->point_count; i++)
        if (!isfinite(cache->q[i]) || !isfinite(cache->v[i]))
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "%s: frame %d: %s %zu is not at a finite position and velocity; lower the time step",
                              cache->stem, (int)cache->frame_count, cache->noun, i / 3);
    cache->time = (double)sinew_world_time(cache->world);
    return SINEW_OK;
}

/* Stores the first failure for later calls and removes unfinished files immediately, which frees a full disk. */
static sinew_status cache_store_failure(sinew_cache *cache, const sinew_error *failure, sinew_error *error)
{
    cache->failure = *failure;
    cache->ops->drop(cache);
    return sinew_fail(error, failure->status, "%s", failure->text);
}

sinew_status sinew_cache_frame(sinew_cache *cache, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(cache != NULL))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_cache_frame: the cache is NULL");
    if (cache->failure.status != SINEW_OK)
        return sinew_fail(error, cache->failure.status, "%s", cache->failure.text);
    sinew_error failure = {0};
    sinew_status status = cache_fetch(cache, &failure);
    if (status == SINEW_OK && cache->frame_count == INT32_MAX - cache->first)
        status = sinew_fail(&failure, SINEW_ERROR_DATA, "%s: too many frames", cache->stem);
    if (status == SINEW_OK)
        status = cache->ops->frame(cache, &failure);
    if (status != SINEW_OK)
        return cache_store_failure(cache, &failure, error);
    cache->frame_count++;
    return SINEW_OK;
}

sinew_status sinew_cache_sync(sinew_cache *cache, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(cache != NULL))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_cache_sync: the cache is NULL");
    if (cache->failure.status != SINEW_OK)
        return sinew_fail(error, cache->failure.status, "%s", cache->failure.text);
    sinew_error failure = {0};
    sinew_status status = cache->ops->sync(cache, &failure);
    if (status == SINEW_OK)
        status = sinew_folder_sync(cache->stem, &failure);
    if (status != SINEW_OK)
        return cache_store_failure(cache, &failure, error);
    cache->synced = cache->frame_count;
    return SINEW_OK;
}

sinew_status sinew_cache_close(sinew_cache *cache, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(cache != NULL))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_cache_close: the cache is NULL");
    sinew_error failure = cache->failure;
    if (failure.status == SINEW_OK) {
        /* Without a frame, formats whose files need a shape write the current state of the world. */
        if (cache->frame_count == 0)
            cache_fetch(cache, &failure);
        if (failure.status == SINEW_OK)
            cache->ops->close(cache, &failure);
        cache->ops->drop(cache);
    }
    cache_release(cache);
    if (failure.status != SINEW_OK)
        return sinew_fail(error, failure.status, "%s", failure.text);
    return SINEW_OK;
}

void sinew_cache_drop(sinew_cache *cache)
{
    if (!cache)
        return;
    if (cache->failure.status == SINEW_OK)
        cache->ops->drop(cache);
    cache_release(cache);
}
