/* SPDX-License-Identifier: MIT
 *
 * test_hostile_files.c: malicious input files. The command refuses each with exit status 2 and one line, within a time
 * limit and within 64 MB plus four times the size of its files. In the library every refused file takes little memory.
 */
#include "mesh_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "mesh_entry.h"
#include "random_cases.h"
#include "sinew/scene.h"

/* ---- The command --------------------------------------------------------------------------- */

typedef struct outcome {
    int status;      /* exit status; -1: ended by a signal */
    long peak;       /* largest resident size, bytes */
    char text[4096]; /* standard error */
} outcome;

static void become_command(const char *const *arguments)
{
    int err = open(SCRATCH("err.txt"), O_WRONLY | O_CREAT | O_TRUNC, 0600), out = open("/dev/null", O_WRONLY);
    if (chdir(SINEW_TEST_DIR) == 0 && dup2(err, 2) == 2 && dup2(out, 1) == 1)
        execv(SINEW_COMMAND, (char *const *)arguments);
    _exit(127);
}

/* Waits for half a minute; a process that still runs then counts as hanging. */
static void wait_for(pid_t child, outcome *o)
{
    int status = 0;
    struct rusage use = {0};
    for (int tenths = 0; wait4(child, &status, WNOHANG, &use) == 0; tenths++) {
        if (tenths == 300) {
            kill(child, SIGKILL);
            wait4(child, &status, 0, &use);
            fail_msg("the command hangs");
        }
        nanosleep(&(struct timespec){0, 10000000 * (tenths < 10 ? 1 : 10)}, NULL);
    }
    o->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    o->peak = use.ru_maxrss * 1024;
}

static void run_command(const char *const *arguments, outcome *o)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        become_command(arguments);
    wait_for(child, o);
    FILE *stream = fopen(SCRATCH("err.txt"), "r");
    assert_non_null(stream);
    size_t length = fread(o->text, 1, sizeof o->text - 1, stream);
    o->text[length] = '\0';
    fclose(stream);
}

static void assert_modest(const outcome *o, long file_bytes, const char *what)
{
#ifdef SINEW_SANITIZED
    (void)o;
    (void)file_bytes;
    (void)what;
#else
    long limit = 64000000 + 4 * file_bytes;
    if (o->peak >= limit)
        fail_msg("%s: %ld bytes at most, %ld are allowed", what, o->peak, limit);
#endif
}

/* Checks exit status 2, exactly one line that contains `reason`, and the memory limit. */
static void refuse(const char *const *arguments, long file_bytes, const char *reason)
{
    outcome o;
    const char *what = arguments[2];
    run_command(arguments, &o);
    if (o.status != 2)
        fail_msg("%s: exit status %d: %s", what, o.status, o.text);
    const char *newline = strchr(o.text, '\n');
    if (!newline || newline[1] != '\0')
        fail_msg("%s: not one line: %s", what, o.text);
    if (!strstr(o.text, reason))
        fail_msg("%s: \"%s\" is not in: %s", what, reason, o.text);
    assert_modest(&o, file_bytes, what);
}

static void refuse_mesh(const char *name, long file_bytes, const char *reason)
{
    refuse((const char *[]){"sinew", "mesh", "check", name, NULL}, file_bytes, reason);
}

static void refuse_scene(const char *text, const char *reason)
{
    store(SCRATCH("scene.json"), text, strlen(text));
    refuse((const char *[]){"sinew", "run", "scene.json", "--frames", "1", "--out", "out", NULL}, (long)strlen(text),
           reason);
}

/* ---- Announced sizes --------------------------------------------------------------------------- */

/* Writes a compressed array of `size` zero bytes as one block with a 64-bit header; returns its size in the file. */
static long put_zeros(FILE *stream, uint64_t size)
{
    static unsigned char zeros[1 << 16], packed[1 << 16];
    z_stream z = {0};
    long header = ftell(stream);
    fwrite(zeros, 32, 1, stream);
    assert_int_equal(deflateInit(&z, 9), Z_OK);
    for (uint64_t done = 0; done <= size;) {
        z.next_in = zeros;
        z.avail_in = (unsigned)(size - done < sizeof zeros ? size - done : sizeof zeros);
        bool last = size - done <= sizeof zeros;
        done += last ? size - done + 1 : z.avail_in;
        do {
            z.next_out = packed;
            z.avail_out = sizeof packed;
            deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
            fwrite(packed, 1, sizeof packed - z.avail_out, stream);
        } while (z.avail_out == 0);
    }
    uint64_t words[4] = {1, size, 0, z.total_out};
    deflateEnd(&z);
    fseek(stream, header, SEEK_SET);
    fwrite(words, sizeof words, 1, stream);
    fseek(stream, 0, SEEK_END);
    return 32 + (long)words[3];
}

/* Writes pieces with the given numbers of points and cells; all their arrays refer to one appended run of zeros. */
static long store_bomb(const char *path, long long points, long long cells, int pieces, uint64_t zeros)
{
    static const char array[] = "<DataArray type=\"%s\" Name=\"%s\" format=\"appended\" offset=\"0\"/>";
    static const char *const names[] = {"connectivity", "offsets", "types"};
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    fputs("<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt64\" "
          "compressor=\"vtkZLibDataCompressor\"><UnstructuredGrid>\n",
          stream);
    for (int i = 0; i < pieces; i++) {
        fprintf(stream, "<Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\"><Points>", points, cells);
        fprintf(stream, array, "Float64", "p");
        fputs("</Points>", stream);
        for (int k = 0; cells > 0 && k < 3; k++) {
            fputs("<Cells>", stream);
            fprintf(stream, array, k < 2 ? "Int64" : "UInt8", names[k]);
            fputs("</Cells>", stream);
        }
        fputs("</Piece>\n", stream);
    }
    fputs("</UnstructuredGrid><AppendedData encoding=\"raw\">_", stream);
    put_zeros(stream, zeros);
    long size = ftell(stream);
    assert_int_equal(fclose(stream), 0);
    return size;
}

static void compressed_arrays(void **state)
{
    (void)state;
    /* A hundred megabytes from a hundred kilobytes, announced or not. */
    long size = store_bomb(SCRATCH("bomb.vtu"), 1, 1, 1, 100000000 / 24 * 24);
    refuse_mesh("bomb.vtu", size, "unpack to more than 32 times the file");
    size = store_bomb(SCRATCH("bomb.vtu"), 100000000 / 24, 0, 1, 100000000 / 24 * 24);
    refuse_mesh("bomb.vtu", size, "unpack to more than 32 times the file");
    /* Arrays that are small by themselves, shared by many pieces. */
    size = store_bomb(SCRATCH("bomb.vtu"), 10000, 0, 1000, 240000);
    refuse_mesh("bomb.vtu", size, "unpack to more than 32 times the file");
    size = store_bomb(SCRATCH("bomb.vtu"), 1000, 1, 1, 24000);
    refuse_mesh("bomb.vtu", size, "1 cells are promised, but there are 3000 offsets");
}

static void promised_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } files[] = {
        {"many.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2147483647\n1 0 0 0\n"},
        {"many4.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 2147483647 1 2\n2 1 0 2147483647\n"},
        {"many.node", "2147483647 3 0 0\n0 0 0 0\n"},
        {"many.mesh", "MeshVersionFormatted 2 Dimension 3 Vertices 2147483647 0 0 0 0"},
        {"many.vtk", "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 2147483647 double\n"},
        {"many.ply", "ply\nformat binary_little_endian 1.0\nelement vertex 2147483647\nproperty float x\n"
                     "property float y\nproperty float z\nend_header\n"},
        {"many.off", "OFF 2147483647 2147483647 0\n0 0 0\n"},
        {"many.gltf", "{\"asset\":{\"version\":\"2.0\"},\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}"
                      "]}],\"accessors\":[{\"bufferView\":0,\"count\":2147483647,\"componentType\":5126,\"type\":"
                      "\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":2147483647}],\"buffers\":[{"
                      "\"byteLength\":2147483647,\"uri\":\"data:;base64,AAAA\"}]}"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[1024];
        snprintf(path, sizeof path, SCRATCH("%s"), files[i].name);
        store(path, files[i].text, strlen(files[i].text));
        refuse_mesh(files[i].name, (long)strlen(files[i].text), files[i].name);
    }
}

/* JSON of small values takes up to 77 times its text when parsed. */
static void json_bombs(void **state)
{
    (void)state;
    enum {
        COUNT = 1000000
    };
    static const struct {
        const char *name, *before, *value, *after;
    } bombs[] = {
        {"bomb.gltf", "{\"asset\":{\"version\":\"2.0\"},\"x\":[", "{},", "0]}"},
        {"bomb.json", "{\"sinew\":1,\"bodies\":[", "0,", "0]}"},
    };
    for (int i = 0; i < 2; i++) {
        char path[1024];
        snprintf(path, sizeof path, SCRATCH("%s"), bombs[i].name);
        FILE *stream = fopen(path, "wb");
        assert_non_null(stream);
        fputs(bombs[i].before, stream);
        for (int k = 0; k < COUNT; k++)
            fputs(bombs[i].value, stream);
        fputs(bombs[i].after, stream);
        long size = ftell(stream);
        fclose(stream);
        if (i == 0)
            refuse_mesh(bombs[i].name, size, "too many values for its size");
        else
            refuse((const char *[]){"sinew", "run", "./bomb.json", "--out", "out", NULL}, size,
                   "too many values for its size");
    }
}

static void generators_ask_for_too_much(void **state)
{
    (void)state;
    static const char *const meshes[] = {
        "{\"generator\":\"box\",\"vertices\":[10000,10000,10000]}",
        "{\"generator\":\"beam\",\"cells\":[10000,10000,10000]}",
        "{\"generator\":\"cloth\",\"vertices\":[100000,100000],\"diagonals\":\"cross\"}",
        "{\"generator\":\"ball\",\"segments\":1000}",
        "{\"generator\":\"cylinder\",\"segments\":1000,\"layers\":10000}",
        "{\"generator\":\"torus\",\"segments\":10000,\"layers\":1000}",
        "{\"generator\":\"tube\",\"segments\":10000,\"layers\":10000,\"rings\":1000}",
    };
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"sinew\":1,\"bodies\":[{\"mesh\":%s,\"density\":1}]}", meshes[i]);
        refuse_scene(text, "a generator makes at most");
    }
}

/* ---- Files that name files ------------------------------------------------------------------ */

#define GLTF_HEAD "{\"asset\":{\"version\":\"2.0\"},"

/* A glTF file with one primitive of one buffer with this URI. */
static long store_gltf(const char *path, const char *uri)
{
    char text[2048];
    int length =
        snprintf(text, sizeof text,
                 GLTF_HEAD "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{"
                           "\"bufferView\":0,\"count\":3,\"componentType\":5126,\"type\":\"VEC3\"}],"
                           "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"buffers\":[{\"byteLength\":36,"
                           "\"uri\":\"%s\"}]}",
                 uri);
    store(path, text, (size_t)length);
    return length;
}

static void gltf_stays_in_its_folder(void **state)
{
    (void)state;
    static const char *const uris[] = {"../beside.bin",
                                       "/etc/passwd",
                                       "%2e%2e/beside.bin",
                                       "..%2fbeside.bin",
                                       "%2e%2e%2Fbeside.bin",
                                       "file:///etc/passwd",
                                       "/dev/zero",
                                       "sub/beside.bin",
                                       "beside.bin%00",
                                       "..",
                                       ".",
                                       "",
                                       "%2fetc%2fpasswd",
                                       "..%5cbeside.bin",
                                       "./beside.bin",
                                       "http://x/y.bin",
                                       "\\\\u002e\\\\u002e/x",
                                       "a\\u000ab/\\u001b[31m"};
    static const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    mkdir(SCRATCH("sub"), 0700);
    store(SCRATCH("sub/beside.bin"), corners, sizeof corners);
    store(SCRATCH("beside.bin"), corners, sizeof corners);
    store(SINEW_TEST_DIR "/sub/../../beside.bin", corners, sizeof corners);
    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++)
        refuse_mesh("uri.gltf", store_gltf(SCRATCH("uri.gltf"), uris[i]), "is not the name of a file beside this one");
    unlink(SINEW_TEST_DIR "/../beside.bin");
    store_gltf(SCRATCH("uri.gltf"), "besid%65.bin");
    sinew_mesh_destroy(must_read(SCRATCH("uri.gltf")));
}

static void gltf_names_what_is_no_file(void **state)
{
    (void)state;
    const char *const names[] = {"pipe.bin", "folder.bin", "link.bin", "zero.bin"};
    mkfifo(SCRATCH("pipe.bin"), 0600);
    mkdir(SCRATCH("folder.bin"), 0700);
    unlink(SCRATCH("link.bin"));
    unlink(SCRATCH("zero.bin"));
    assert_int_equal(symlink("/etc/passwd", SCRATCH("link.bin")), 0);
    assert_int_equal(symlink("/dev/zero", SCRATCH("zero.bin")), 0);
    for (int i = 0; i < 4; i++)
        refuse_mesh("uri.gltf", store_gltf(SCRATCH("uri.gltf"), names[i]),
                    i < 2 ? "is not a regular file" : "is a symbolic link");
}

/* A file is read once, however many buffers name it. */
static void gltf_reads_a_file_once(void **state)
{
    (void)state;
    enum {
        BUFFERS = 100,
        SIZE = 10000000
    };
    FILE *stream = fopen(SCRATCH("large.bin"), "wb");
    assert_non_null(stream);
    assert_int_equal(ftruncate(fileno(stream), SIZE), 0);
    fclose(stream);
    stream = fopen(SCRATCH("often.gltf"), "wb");
    assert_non_null(stream);
    const char *const lists[] = {"\"buffers\":[", "],\"bufferViews\":[", "],\"accessors\":[",
                                 "],\"meshes\":[{\"primitives\":["};
    fputs(GLTF_HEAD, stream);
    for (int list = 0; list < 4; list++) {
        fputs(lists[list], stream);
        for (int i = 0; i < BUFFERS; i++) {
            const char *comma = i ? "," : "";
            if (list == 0)
                fprintf(stream, "%s{\"byteLength\":%d,\"uri\":\"large.bin\"}", comma, SIZE);
            else if (list == 1)
                fprintf(stream, "%s{\"buffer\":%d,\"byteLength\":36}", comma, BUFFERS - 1 - i);
            else if (list == 2)
                fprintf(stream, "%s{\"bufferView\":%d,\"count\":3,\"componentType\":5126,\"type\":\"VEC3\"}", comma, i);
            else
                fprintf(stream, "%s{\"attributes\":{\"POSITION\":%d}}", comma, i);
        }
    }
    fputs("]}]}", stream);
    long size = ftell(stream);
    fclose(stream);
    outcome o;
    run_command((const char *[]){"sinew", "mesh", "convert", "often.gltf", "often.obj", NULL}, &o);
    if (o.status != 0)
        fail_msg("exit status %d: %s", o.status, o.text);
    assert_modest(&o, size + SIZE, "often.gltf");
    sinew_mesh *mesh = must_read(SCRATCH("often.obj"));
    assert_int_equal(sinew_mesh_triangle_count(mesh), BUFFERS);
    sinew_mesh_destroy(mesh);
    unlink(SCRATCH("large.bin"));
}

/* ---- Paths that are no regular files ----------------------------------------------------------- */

static void make_odd_files(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    static const char *const endings[] = {"obj", "vtu", "gltf", "json", "csv", "bin"};
    for (int i = 0; i < 6; i++) {
        char path[1024];
        snprintf(path, sizeof path, SCRATCH("pipe.%s"), endings[i]);
        assert_true(mkfifo(path, 0600) == 0 || errno == EEXIST);
        snprintf(path, sizeof path, SCRATCH("device.%s"), endings[i]);
        assert_true(symlink("/dev/zero", path) == 0 || errno == EEXIST);
    }
    /* The path of a socket must be short, so it is bound from within the folder. */
    int here = open(".", O_RDONLY), one = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, "socket.obj");
    assert_int_equal(chdir(SINEW_TEST_DIR), 0);
    unlink("socket.obj");
    assert_int_equal(bind(one, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(fchdir(here), 0);
    close(one);
    close(here);
    mkdir(SCRATCH("folder.obj"), 0700);
}

static void only_regular_files_are_opened(void **state)
{
    (void)state;
    static const char *const meshes[] = {"pipe.obj",    "pipe.vtu",   "pipe.gltf", "device.obj",
                                         "device.gltf", "folder.obj", "socket.obj"};
    make_odd_files();
    for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++)
        refuse_mesh(meshes[i], 0, "is not a regular file");
    static const char *const scenes[] = {"./pipe.json", "./device.json", "./folder.obj"};
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        refuse((const char *[]){"sinew", "run", scenes[i], "--out", "out", NULL}, 0, "is not a regular file");
    refuse_scene("{\"sinew\":1,\"bodies\":[{\"mesh\":{\"file\":\"pipe.obj\"},\"density\":1}]}", "not a regular file");
    refuse_scene("{\"sinew\":1,\"bodies\":[{\"mesh\":{\"generator\":\"rope\"},\"masses\":\"pipe.csv\"}]}",
                 "not a regular file");
    refuse_scene("{\"sinew\":1,\"bodies\":[{\"mesh\":{\"generator\":\"rope\"},\"masses\":\"device.csv\"}]}",
                 "not a regular file");
}

static void states_are_regular_files(void **state)
{
    (void)state;
    static const char text[] = "{\"sinew\":1,\"bodies\":[{\"mesh\":{\"generator\":\"beam\"},\"energies\":[{\"energy\":"
                               "\"strain\",\"stiffness\":1000}]}]}";
    make_odd_files();
    store(SCRATCH("scene.json"), text, sizeof text - 1);
    static const char *const names[] = {"pipe.bin", "device.bin", "sub"};
    mkdir(SCRATCH("sub"), 0700);
    for (int i = 0; i < 3; i++)
        refuse((const char *[]){"sinew", "run", "scene.json", "--resume", names[i], "--out", "fresh", NULL}, 0,
               names[i]);
}

/* ---- Memory of refused files --------------------------------------------------------------------- */

/* Counts live bytes; the size is stored before each block. */
typedef struct meter {
    size_t now, peak;
} meter;

static void *meter_allocate(void *context, size_t size, size_t alignment)
{
    meter *m = context;
    size_t front = alignment > 64 ? alignment : 64;
    char *block = aligned_alloc(front, (front + size + front - 1) / front * front);
    if (!block)
        return NULL;
    memcpy(block, (size_t[]){size, front}, 2 * sizeof(size_t));
    m->now += size;
    m->peak = m->now > m->peak ? m->now : m->peak;
    return block + front;
}

static void meter_release(void *context, void *memory)
{
    /* The alignment of the block is unknown here; readers use at most 64. */
    meter *m = context;
    if (!memory)
        return;
    size_t facts[2];
    char *block = (char *)memory - 64;
    memcpy(facts, block, sizeof facts);
    assert_int_equal(facts[1], 64);
    m->now -= facts[0];
    free(block);
}

static void change_bytes(random_cases *r, char *bytes, size_t size)
{
    static const char *const words[] = {"99999999", "2147483647", "-1", "1e300", "0", "4294967296"};
    for (int times = 1 + random_index(r, 4); times > 0; times--) {
        size_t at = (size_t)random_bits(r) % size;
        if (random_index(r, 2)) {
            const char *word = words[random_index(r, 6)];
            memcpy(bytes + at, word, strlen(word) < size - at ? strlen(word) : size - at);
        } else {
            bytes[at] = (char)random_bits(r);
        }
    }
}

/* Randomly changed files of other programs: a refused file takes at most 300 kB (mostly zlib's windows) plus eight
 * times its size. */
static void changed_files_take_little(void **state)
{
    (void)state;
    static const char *const names[] = {"gmsh_mixed_msh22.msh",
                                        "gmsh_mixed_msh41_binary.msh",
                                        "gmsh.mesh",
                                        "vtk_grid_51_binary.vtk",
                                        "vtk_poly_42.vtk",
                                        "vtk_raw_64_zlib_big.vtu",
                                        "vtk_base64_32_zlib.vtu",
                                        "vtk_base64_64.vtu",
                                        "vtk_pieces.vtu",
                                        "vtk_surface.obj",
                                        "vtk_surface_binary.ply",
                                        "gmsh.stl",
                                        "geomview.off",
                                        "vtk_surface.gltf"};
    random_cases r = random_cases_begin("changed files", 20000, 400000);
    int refused = 0;
    for (int i = 0; i < r.count; i++) {
        const char *name = names[random_index(&r, sizeof names / sizeof names[0])];
        char path[1024];
        size_t size;
        meter m = {0};
        sinew_allocator memory = {meter_allocate, meter_release, &m};
        snprintf(path, sizeof path, DATA("%s"), name);
        char *bytes = load(path, &size);
        change_bytes(&r, bytes, size);
        sinew_mesh *mesh = mesh_entry(name, bytes, size, &memory, NULL);
        refused += mesh == NULL;
        if (!mesh && m.peak > 300000 + 8 * size)
            fail_msg("%s, case %d: %zu bytes for a file of %zu", name, i, m.peak, size);
        sinew_mesh_destroy(mesh);
        assert_int_equal(m.now, 0);
        free(bytes);
    }
    printf("%d of %d were refused\n", refused, (int)r.count);
    assert_true(refused > r.count / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compressed_arrays),
        cmocka_unit_test(promised_counts),
        cmocka_unit_test(json_bombs),
        cmocka_unit_test(generators_ask_for_too_much),
        cmocka_unit_test(gltf_stays_in_its_folder),
        cmocka_unit_test(gltf_names_what_is_no_file),
        cmocka_unit_test(gltf_reads_a_file_once),
        cmocka_unit_test(only_regular_files_are_opened),
        cmocka_unit_test(states_are_regular_files),
        cmocka_unit_test(changed_files_take_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
