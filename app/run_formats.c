/* SPDX-License-Identifier: MIT
 *
 * run_formats.c: output of `sinew run` for other programs: cache formats, fields, frames of glTF. The command line sets
 * them; a continued run reads them from the comment in its state.
 */
#include <stdio.h>
#include <string.h>

#include "info_run.h"
#include "run.h"

static const char command[] = "run";

/* Returns the number of occurrences of an option on the command line, and its values. */
static const sinew_given *given(const sinew_run *r, const char *option)
{
    int32_t i = 0;
    while (strcmp(r->arguments.options[i].name, option) != 0)
        i++;
    return &r->arguments.given[i];
}

/* ---- Formats and fields on the command line ---------------------------------------------------- */

/* Applies one word of --format or --fields to the run. Returns false, with a message, for a wrong word. */
typedef bool take_word(sinew_run *r, const char *word);

static bool formats_read_list(sinew_run *r, const char *option, take_word *take)
{
    const sinew_given *list = given(r, option);
    for (int32_t i = 0; i < list->count; i++)
        for (const char *name = list->values[i]; name;) {
            char word[32];
            const size_t length = strcspn(name, ",");
            snprintf(word, sizeof word, "%.*s", (int)length, name);
            if (!take(r, word))
                return false;
            name = name[length] ? name + length + 1 : NULL;
        }
    return true;
}

static bool formats_unknown(const char *option, const char *noun, const char *word, const char *const *names,
                            int32_t count)
{
    const char *nearest = sinew_nearest_name(word, names, count);
    char known[256] = "";
    for (int32_t i = 0; i < count; i++) {
        const size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", names[i]);
    }
    if (nearest)
        sinew_usage_error(command, "--%s: unknown %s \"%s\"; did you mean \"%s\"?", option, noun, word, nearest);
    else
        sinew_usage_error(command, "--%s: unknown %s \"%s\"; known are %s", option, noun, word, known);
    return false;
}

static bool take_format(sinew_run *r, const char *word)
{
    const char *names[SINEW_CACHE_COUNT + 1];
    const sinew_cache_format format = sinew_cache_format_by_name(word);
    if (format < SINEW_CACHE_COUNT)
        r->wanted[format] = true;
    if (format < SINEW_CACHE_COUNT || strcmp(word, "none") == 0)
        return true;
    for (int i = 0; i < SINEW_CACHE_COUNT; i++)
        names[i] = sinew_cache_format_name((sinew_cache_format)i);
    names[SINEW_CACHE_COUNT] = "none";
    return formats_unknown("format", "format", word, names, SINEW_CACHE_COUNT + 1);
}

static bool take_field(sinew_run *r, const char *word)
{
    const char *names[SINEW_FIELD_COUNT + 2];
    const sinew_field_kind field = sinew_field_by_name(word);
    if (strcmp(word, "all") == 0)
        r->fields_if_any = (1u << SINEW_FIELD_COUNT) - 1;
    else if (field < SINEW_FIELD_COUNT)
        r->fields |= 1u << field;
    else if (strcmp(word, "none") != 0) {
        for (int i = 0; i < SINEW_FIELD_COUNT; i++)
            names[i] = sinew_get_field_info((sinew_field_kind)i)->name;
        names[SINEW_FIELD_COUNT] = "all";
        names[SINEW_FIELD_COUNT + 1] = "none";
        return formats_unknown("fields", "field", word, names, SINEW_FIELD_COUNT + 2);
    }
    return true;
}

bool sinew_run_read_formats(sinew_run *r)
{
    const sinew_cache_def usual = sinew_default_cache_def();
    const char *morphs = sinew_option_text(&r->arguments, "morphs");
    int64_t frames = usual.morph_frames;
    r->wanted[SINEW_CACHE_PC2] = given(r, "format")->count == 0;
    r->fields_if_any = given(r, "fields")->count == 0 ? usual.fields_if_any : 0;
    if (!formats_read_list(r, "format", take_format) || !formats_read_list(r, "fields", take_field) ||
        (morphs && !sinew_read_integer(command, "--morphs", morphs, 0, 1000000, &frames)))
        return false;
    r->morph_frames = (int32_t)frames;
    const uint32_t of_steps = 1u << SINEW_FIELD_RESIDUAL | 1u << SINEW_FIELD_REACTION;
    r->balance = ((r->fields | r->fields_if_any) & of_steps) != 0;
    return true;
}

bool sinew_run_check_fields(const sinew_run *r)
{
    if (given(r, "fields")->count == 0 || r->wanted[SINEW_CACHE_VTU] || r->wanted[SINEW_CACHE_NPY])
        return true;
    sinew_usage_error(command, "--fields: only vtu and npy hold fields; add --format vtu or npy");
    return false;
}

/* ---- Formats and fields in the comment of a state ----------------------------------------------- */

bool sinew_run_add_to_state_comment(const sinew_run *r, json_t *comment)
{
    json_t *formats = json_array();
    for (int format = 0; format < SINEW_CACHE_COUNT; format++)
        if (r->wanted[format])
            json_array_append_new(formats, json_string(sinew_cache_format_name((sinew_cache_format)format)));
    return json_object_set_new(comment, "formats", formats) == 0 &&
           json_object_set_new(comment, "fields", json_integer((json_int_t)r->fields)) == 0 &&
           json_object_set_new(comment, "fields_if_any", json_integer((json_int_t)r->fields_if_any)) == 0 &&
           json_object_set_new(comment, "morphs", json_integer(r->morph_frames)) == 0;
}

static bool take_formats(sinew_run *r, const json_t *formats, const char *path)
{
    bool had[SINEW_CACHE_COUNT] = {false}, same = true;
    for (size_t i = 0; i < json_array_size(formats); i++) {
        const char *name = json_string_value(json_array_get(formats, i));
        sinew_cache_format format = sinew_cache_format_by_name(name ? name : "");
        if (format < SINEW_CACHE_COUNT)
            had[format] = true;
    }
    for (int i = 0; i < SINEW_CACHE_COUNT && given(r, "format")->count > 0; i++)
        same = same && had[i] == r->wanted[i];
    memcpy(r->wanted, had, sizeof had);
    return same || sinew_run_refuse_resume(path, "has other formats; leave out --format, or give another --out");
}

/* Sets fields and morph frames from the comment of a state; refuses other --fields and --morphs. States of earlier
 * builds do not list fields, because these builds had no optional fields. */
static bool take_fields(sinew_run *r, const json_t *comment, const char *path)
{
    json_int_t fields = 0, any = 0, morphs = 0;
    if (json_unpack((json_t *)comment, "{s:I, s:I, s:I}", "fields", &fields, "fields_if_any", &any, "morphs",
                    &morphs) != 0)
        return true;
    if (given(r, "fields")->count > 0 && ((uint32_t)fields != r->fields || (uint32_t)any != r->fields_if_any))
        return sinew_run_refuse_resume(path, "has other fields; leave out --fields, or give another --out");
    if (given(r, "morphs")->count > 0 && (int32_t)morphs != r->morph_frames)
        return sinew_run_refuse_resume(path, "has another --morphs; leave it out, or give another --out");
    r->fields = (uint32_t)fields;
    r->fields_if_any = (uint32_t)any;
    r->morph_frames = (int32_t)morphs;
    return true;
}

bool sinew_run_match_formats(sinew_run *r, const json_t *comment, const char *path)
{
    return take_formats(r, json_object_get(comment, "formats"), path) && take_fields(r, comment, path);
}

/* ---- Printed lists of formats ----------------------------------------------------------------- */

/* Files of each cache format and the programs that open them; every %s is the name of the scene. */
static const char *const open_with[SINEW_CACHE_COUNT] = {
    [SINEW_CACHE_PC2] = "%s.obj + %s.pc2 (Blender: Mesh Cache modifier)",
    [SINEW_CACHE_OBJ] = "%s.*.obj (any 3D program)",
    [SINEW_CACHE_VTU] = "%s.pvd (ParaView)",
    [SINEW_CACHE_GLTF] = "%s.glb (browser, Blender)",
    [SINEW_CACHE_CSV] = "%s.csv (a spreadsheet)",
    [SINEW_CACHE_NPY] = "%s.npy.json + %s.*.npy (NumPy)",
    [SINEW_CACHE_USDA] = "%s.usda (USD: Houdini, Maya, Blender)",
};

static void print_named(const char *pattern, const char *name)
{
    for (const char *c = pattern; *c; c++) {
        if (c[0] == '%' && c[1] == 's') {
            fputs(name, stdout);
            c++;
        } else {
            putchar(*c);
        }
    }
}

int sinew_info_formats(void)
{
    printf("caches, by sinew run SCENE --format LIST\n");
    for (int format = 0; format < SINEW_CACHE_COUNT; format++) {
        printf("  %-6s ", sinew_cache_format_name((sinew_cache_format)format));
        print_named(open_with[format], "NAME");
        printf("\n");
    }
    printf("\nfields that vtu and npy hold, by --fields LIST\n");
    for (int i = 0; i < SINEW_FIELD_COUNT; i++) {
        const sinew_field_info *info = sinew_get_field_info((sinew_field_kind)i);
        const char *unit = i == SINEW_FIELD_ENERGY ? "J/m3" : info->unit;
        printf("  %-12s %d %s a %-9s %-5s %s\n", info->name, (int)info->component_count,
               info->component_count > 1 ? "numbers" : "number ", info->of_elements ? "tet" : "particle", unit,
               info->summary);
    }
    return SINEW_EXIT_DONE;
}

void sinew_run_print_formats(const sinew_run *r)
{
    const int64_t frames = sinew_world_step_count(r->world) / r->per_frame - r->first_frame + 1;
    const int32_t every = sinew_cache_morph_stride((int32_t)frames, r->morph_frames);
    for (int format = 0; format < SINEW_CACHE_COUNT; format++) {
        if (!r->wanted[format])
            continue;
        print_named(open_with[format], sinew_scene_name(r->scene));
        if (format == SINEW_CACHE_GLTF && every > 1)
            printf(" with every %d%s of %lld frames, as viewers take few: --morphs 0 writes all", (int)every,
                   every == 2 ? "nd" : "th", (long long)frames);
        printf(", ");
    }
}
