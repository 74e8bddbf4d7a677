/* SPDX-License-Identifier: MIT
 *
 * fuzz_state.c: libFuzzer feeds saved states. A state is loaded whole or refused with a reason; a refused state leaves
 * the world unchanged. A loaded state is saved, loaded again with equal results, and stepped.
 *
 * The first byte selects the loader: the state file, sinew_world_state_load() or the partial restore of a block. Seeds
 * are valid states generated here, so that the corpus follows changes of the format.
 */
#include <string.h>
#include <zlib.h>

#include "fuzz_files.h"
#include "io/file.h"
#include "sinew/scene.h"

/* A scene with all kinds of saved data: moving pins and targets, forces, two bodies, a coupling. */
static const char scene_text[] =
    "{\"sinew\":1,\"time_step\":0.01,\"solver\":{\"name\":\"admm\",\"iterations\":2},\"bodies\":["
    "{\"name\":\"a\",\"mesh\":{\"generator\":\"beam\",\"cells\":[2,1,1],\"size\":[2,1,1]},\"density\":100,"
    "\"energies\":[{\"energy\":\"strain\",\"stiffness\":1e4}],\"pins\":[{\"select\":{\"indices\":[0,3]},\"motion\":"
    "{\"keys\":[{\"time\":0},{\"time\":1,\"translate\":[0,1,0]}]}}]},"
    "{\"name\":\"b\",\"mesh\":{\"generator\":\"rope\",\"vertices\":4,\"from\":[0,2,0],\"to\":[1,2,0]},\"density\":1,"
    "\"energies\":[{\"energy\":\"spring\",\"stiffness\":100},{\"energy\":\"position\",\"stiffness\":10}],"
    "\"initial\":{\"velocity\":[1,0,0]}}]}";

static sinew_scene *make_scene(void)
{
    sinew_error error;
    sinew_scene_def def = sinew_default_scene_def();
    def.path = "state.json";
    def.text = scene_text;
    def.text_size = sizeof scene_text - 1;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    return scene;
}

static void *save(const sinew_world *world, size_t *size)
{
    *size = sinew_world_state_size(world);
    void *blob = malloc(*size);
    if (!blob || sinew_world_state_save(world, blob, *size) != SINEW_OK)
        abort();
    return blob;
}

/* A loaded state can be saved and loaded again. */
static void use_state(sinew_world *world)
{
    size_t size;
    uint64_t before = sinew_world_state_hash(world);
    void *blob = save(world, &size);
    sinew_world_step(world, NULL);
    if (sinew_world_state_load(world, blob, size, NULL) != SINEW_OK || sinew_world_state_hash(world) != before)
        abort();
    free(blob);
}

static sinew_status load(sinew_world *world, uint8_t way, const uint8_t *bytes, size_t size, sinew_error *error)
{
    if (way & 2)
        return sinew_world_state_restore(world, bytes, size, NULL, error);
    if (!(way & 1))
        return sinew_world_state_load(world, bytes, size, error);
    fuzz_store("state.bin", bytes, size);
    return sinew_state_read(world, fuzz_in_scratch("state.bin").text, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Shared by all inputs: a refused state leaves the world unchanged. */
    static sinew_scene *scene;
    if (size == 0)
        return 0;
    scene = scene ? scene : make_scene();
    sinew_world *world = sinew_scene_world(scene);
    uint64_t before = sinew_world_state_hash(world);
    sinew_error error = {SINEW_OK, ""};
    sinew_status status = load(world, data[0], data + 1, size - 1, &error);
    if ((status == SINEW_OK) != (error.text[0] == '\0'))
        abort();
    if (status != SINEW_OK && sinew_world_state_hash(world) != before)
        abort();
    if (status == SINEW_OK) {
        use_state(world);
        sinew_scene_destroy(scene);
        scene = NULL;
    }
    return 0;
}

/* ---- Valid states -------------------------------------------------------------------------- */

static size_t copy_genuine(uint8_t *data, size_t capacity, unsigned seed)
{
    sinew_scene *scene = make_scene();
    sinew_world *world = sinew_scene_world(scene);
    sinew_allocator system = sinew_allocator_or_system(NULL);
    size_t size;
    char *bytes;
    for (unsigned steps = seed / 2 % 4; steps > 0; steps--)
        sinew_world_step(world, NULL);
    if (seed & 1) {
        fuzz_path path = fuzz_in_scratch("genuine.bin");
        if (sinew_state_write(world, path.text, NULL) != SINEW_OK)
            abort();
        bytes = sinew_file_read(path.text, &system, &size, NULL);
    } else {
        bytes = save(world, &size);
    }
    size = size < capacity - 1 ? size : capacity - 1;
    data[0] = (uint8_t)(seed & 3);
    memcpy(data + 1, bytes, size);
    free(bytes);
    sinew_scene_destroy(scene);
    return size + 1;
}

/* ---- Checksums ----------------------------------------------------------------------------- */

/* The layout of base/tagged_blob.h, version 2: header, table, contents. Most mutated states get valid checksums and
 * sizes; otherwise the fuzzer would never get past these checks. */
enum {
    HEADER_SIZE = 40,
    ENTRY_SIZE = 32
};

static uint32_t get32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static void put_checksum(uint8_t *slot, const uint8_t *bytes, size_t size)
{
    uint32_t checksum = size ? (uint32_t)crc32_z(0, bytes, size) : 0;
    memcpy(slot, &checksum, sizeof checksum);
}

static void repair(uint8_t *block, size_t size)
{
    if (size < HEADER_SIZE || memcmp(block, "SINEWST\n", 8) != 0 || get32(block + 8) != 2)
        return;
    uint64_t whole = size;
    size_t capacity_bytes = (size - HEADER_SIZE) / ENTRY_SIZE,
           count = get32(block + 20) < capacity_bytes ? get32(block + 20) : capacity_bytes;
    for (size_t i = 0; i < count; i++) {
        uint8_t *entry = block + HEADER_SIZE + i * ENTRY_SIZE;
        uint64_t place[2];
        memcpy(place, entry + 16, sizeof place);
        if (place[0] <= size && place[1] <= size - place[0])
            put_checksum(entry + 12, block + place[0], (size_t)place[1]);
    }
    memcpy(block + 24, &whole, sizeof whole);
    memset(block + 32, 0, 4);
    put_checksum(block + 32, block, HEADER_SIZE + count * ENTRY_SIZE);
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
    if (capacity > 1 && (size < 16 || seed % 16 == 0))
        size = copy_genuine(data, capacity, seed / 16);
    if (seed % 64 == 0)
        return size;
    size = LLVMFuzzerMutate(data, size, capacity);
    if (size > 0 && seed % 8 != 1)
        repair(data + 1, size - 1);
    return size;
}
