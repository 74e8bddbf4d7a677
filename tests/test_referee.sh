#!/usr/bin/env bash
# The intersection checker tools/crossings gives the right result for known surfaces, the same result with and without
# its spatial search, reads all formats, and refuses damaged files. Usage: test_referee.sh CROSSINGS SCRATCH [SINEW]
set -euo pipefail
crossings=$(realpath "$1")
scratch=$2
sinew=${3:+$(realpath "$3")}
source=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

fail() {
    echo "test_intersections: $1" >&2
    cat printed.txt >&2
    exit 1
}

# expect CODE TEXT ARGUMENTS: checks exit code and a part of the output, with the search and, for valid files, without.
expect() {
    local code=$1 text=$2 way got
    shift 2
    for way in "" --brute; do
        got=0
        "$crossings" "$@" $way >printed.txt 2>&1 || got=$?
        [ "$got" = "$code" ] || fail "exit code $got, not $code: $* $way"
        grep -qF -- "$text" printed.txt || fail "\"$text\" is not printed: $* $way"
    done
}

# obj NAME LINES: writes an OBJ file; each argument is a line.
obj() {
    local name=$1
    shift
    printf '%s\n' "$@" >"$name.obj"
}
flat=("v 0 0 0" "v 3 0 0" "v 0 3 0" "f 1 2 3")

# ---- Two triangles
obj apart "${flat[@]}" "v 0 0 0.25" "v 3 0 0.25" "v 0 3 0.25" "f 4 5 6"
expect 0 "crossings 0; between 0.25 m" apart.obj
obj through "${flat[@]}" "v 1 1 -1" "v 1 1 1" "v 5 5 0" "f 4 5 6"
expect 1 "crossings 1 (within 0, between 1," through.obj
expect 1 "triangle 1 2 3 crosses triangle 4 5 6" through.obj --list
# Only two edges of the second triangle pass through the first, and no edge of the first through the second.
obj tip "${flat[@]}" "v 1 1 -1" "v 0.9 0.9 1" "v 1.1 1 1" "f 4 5 6"
expect 1 "between 1," tip.obj

# ---- Touching surfaces do not intersect, and their distance is zero
obj corner "${flat[@]}" "v 1 1 0" "v 1 2 1" "v 2 1 1" "f 4 5 6"
expect 0 "crossings 0; between 0 m (vertex 4, triangle 1 2 3)" corner.obj
obj edge "${flat[@]}" "v 1 -1 0" "v 1 1 0" "v 1 1 1" "f 4 5 6"
expect 0 "crossings 0; between 0 m" edge.obj
obj coplanar "${flat[@]}" "v 1 1 0" "v 4 1 0" "v 1 4 0" "f 4 5 6"
expect 0 "crossings 0; between 0 m" coplanar.obj
# A corner one unit of round-off beyond a tilted plane: plain double precision does not distinguish both sides.
obj grazing "v 0.1 0.2 0.3" "v 1.1 0.7 0.9" "v 0.4 1.3 0.2" "f 1 2 3" "v 0.5 0.5 5" "v 0.6 0.5 5" "v 0.1 0.2 0.3" "f 4 5 6"
expect 0 "crossings 0; between 0 m" grazing.obj
obj below "${flat[@]}" "v 1 1 -1e-16" "v 1 2 1" "v 2 1 1" "f 4 5 6"
expect 1 "between 1," below.obj

# ---- Common vertices
obj neighbours "v 0 0 0" "v 1 0 0" "v 0 1 0" "v 1 1 0.5" "f 1 2 3" "f 2 4 3"
expect 0 "crossings 0; within" neighbours.obj
obj folded "v 0 0 0" "v 1 0 0" "v 0 1 0" "f 1 2 3" "v 0.2 0.2 -1" "v 0.2 0.2 1" "f 1 4 5"
expect 1 "fans 1," folded.obj
obj quad "v 0 0 0" "v 1 0 0" "v 1 1 0" "v 0 1 0" "f 1/1 2/2 3/3 4/4" "v 0.7 0.2 -1" "v 0.7 0.2 1" "v 5 0.2 0" "f -3//1 -2//1 -1//1"
expect 1 "triangle 1 2 3 crosses triangle 5 6 7" quad.obj

# ---- Ropes
obj rope "${flat[@]}" "v 1 1 -1" "v 1 1 1" "v 2 2 2" "l 4 5 6"
expect 1 "triangle 1 2 3 crosses edge 4 5" rope.obj
obj beside "${flat[@]}" "v -1 1 -1" "v -1 1 1" "l 4 5"
expect 0 "crossings 0; between 1 m" beside.obj
obj ropes "v 0 0 0" "v 1 0 0" "v 0.5 -1 0.5" "v 0.5 1 0.5" "l 1 2" "l 3 4"
expect 0 "between 0.5 m (edge 1 2, edge 3 4)" ropes.obj
expect 0 "violation 0.25 m (edge 1 2, edge 3 4)" ropes.obj --thickness 0.75

# ---- Thickness: within one component at most 0.9 of the initial distance
obj grid "v 0 0 0" "v 1 0 0" "v 0 1 0" "v 1 1 0" "f 1 2 3" "f 2 4 3"
obj squeezed "v 0.5 0.5 0" "v 1 0 0" "v 0 1 0" "v 0.6 0.6 0" "f 1 2 3" "f 2 4 3"
# Edges 1 2 and 3 4 start 1 m apart and end 0.138675 m apart.
expect 0 "; 2 m is kept" grid.obj --thickness 2
expect 0 "largest violation of 2 m: 0.761324951 m in frame 1" grid.obj squeezed.obj --thickness 2
expect 0 "1 frames, 0 with crossings" grid.obj through.obj --frames 0:0
expect 1 "1 frames, 1 with crossings" grid.obj through.obj --frames 1:
expect 1 "2 frames, 1 with crossings, 1 in all" grid.obj through.obj --quiet

# ---- Shapes: touching, penetrating, completely inside
expect 0 "triangle 2 4 3); shapes 0 m" grid.obj --plane 0 0 0 0 0 2
expect 1 "entered 2, passed 0), deepest 0.5 m" grid.obj --plane 0 0 0.5 0 0 2
expect 0 "crossings 0; within 0.707106781 m (vertex 1, triangle 2 4 3); shapes 0 m" grid.obj --sphere 0.5 0.5 2 2
expect 1 "entered 2, passed 0), deepest 1 m" grid.obj --sphere 0.5 0.5 1 2
expect 0 "shapes 0.5 m" grid.obj --box 0.5 0.5 1 0.25 0.25 0.5
expect 0 "shapes 0 m" grid.obj --box 0.5 0.5 1 0.25 0.25 1
expect 1 "entered 2, passed 0), deepest 0.125 m" grid.obj --box 0.5 0.5 1 0.25 0.25 1.125
expect 1 "entered 1," rope.obj --box 2 2 2 0.5 0.5 0.5
expect 0 "violation 0.25 m" grid.obj --box 0.5 0.5 1 0.25 0.25 0.5 --thickness 0.75

# ---- Colliders from files; they are not compared with each other
obj wall "o wall" "v 0.5 -9 -9" "v 0.5 9 -9" "v 0.5 0 9" "f 1 2 3" "v 0.4 -9 -9" "v 0.6 9 -9" "v 0.5 0 8" "f 4 5 6"
expect 1 "colliders 4," grid.obj --mesh wall.obj
expect 1 "triangle 1 2 3 crosses triangle 1 2 3 of wall" grid.obj --mesh wall.obj
mkdir moving
cp grid.obj moving/run.0000.obj
cp grid.obj moving/run.0001.obj
obj moving/colliders_0000 "o wall" "v 5 -9 -9" "v 5 9 -9" "v 5 0 9" "f 1 2 3"
cp wall.obj moving/colliders_0001.obj
expect 1 "frame 0: crossings 0" moving
expect 1 "2 frames, 1 with crossings, 4 in all" moving
rm moving/colliders_0001.obj
expect 2 "colliders_0001.obj: No such file" moving

# ---- Passing through a closed surface between two frames
solid=("v 0 0 0" "v 9 0 0" "v 0 9 0" "v 0 0 9" "f 1 3 2" "f 1 2 4" "f 1 4 3" "f 2 3 4")
obj outside "${solid[@]}" "v -1 -1 -1" "v -1.5 -1 -1" "v -1 -1.5 -1" "f 5 6 7"
obj inside "${solid[@]}" "v 1 1 1" "v 1.5 1 1" "v 1 1.5 1" "f 5 6 7"
expect 1 "entered 0, passed 1)" outside.obj inside.obj
expect 0 "2 frames, 0 with crossings" inside.obj inside.obj

# A rope passes through another one and through itself; a rope that goes around the other's end does not.
strand=("v -1 0 0" "v 0 0 0" "v 1 0 0" "l 1 2 3")
obj over "${strand[@]}" "v 0.1 -1 0.05" "v 0.1 0.1 0.05" "v 0.1 1 0.05" "l 4 5 6"
obj under "${strand[@]}" "v 0.1 -1 -0.05" "v 0.1 0.1 -0.05" "v 0.1 1 -0.05" "l 4 5 6"
obj off "${strand[@]}" "v 2 -1 0.05" "v 2 0.1 0.05" "v 2 1 0.05" "l 4 5 6"
obj off_below "${strand[@]}" "v 2 -1 -0.05" "v 2 0.1 -0.05" "v 2 1 -0.05" "l 4 5 6"
expect 1 "frame 1: crossings 1 (within 0, between 0, colliders 0, fans 0, entered 0, passed 1)" over.obj under.obj
expect 0 "4 frames, 0 with crossings" over.obj off.obj off_below.obj under.obj
loop=("v -1 0 0" "v 1 0 0" "v 1 1 0")
obj loop_over "${loop[@]}" "v 0 1 0.05" "v 0 -1 0.05" "l 1 2 3 4 5"
obj loop_under "${loop[@]}" "v 0 1 -0.05" "v 0 -1 -0.05" "l 1 2 3 4 5"
expect 1 "passed 1)" loop_over.obj loop_under.obj
# A passage is found behind any number of other edges, here those of a long straight rope.
for way in over under; do
    awk 'BEGIN { for (i = 0; i <= 5000; i++) print "v", i, 100, 0 }' >"long_$way.obj"
    grep "^v" "$way.obj" >>"long_$way.obj"
    awk 'BEGIN { for (i = 1; i <= 5000; i++) print "l", i, i + 1 }' >>"long_$way.obj"
    awk '$1 == "l" { for (i = 2; i <= NF; i++) $i += 5001; print }' "$way.obj" >>"long_$way.obj"
done
"$crossings" long_over.obj long_under.obj >printed.txt 2>&1 && fail "a passage behind many edges is not found"
grep -qF "passed 1)" printed.txt || fail "a passage behind many edges is not counted"

# ---- Random soups of triangles and ropes: the search finds the intersections of a loop over all pairs
seed=${SINEW_SEED:-$RANDOM}
echo "SINEW_SEED=$seed"
for size in 0.05 0.3 1; do
    awk -v seed="$seed" -v size=$size 'BEGIN {
        srand(seed)
        for (i = 0; i < 120; i++) {
            x = rand(); y = rand(); z = rand()
            for (k = 0; k < 3; k++)
                printf "v %.3f %.3f %.3f\n", x + size * rand(), y + size * rand(), z + size * rand()
        }
        for (i = 0; i < 120; i++)
            print (i % 6 ? "f " : "l ") 3 * i + 1, 3 * i + 2, (i % 5 || i == 0 ? 3 * i + 3 : 3 * i)
    }' >soup.obj
    awk -v seed="$seed" 'BEGIN {
        srand(seed + 1)
        print "o one\nv 0 0 0.5\nv 1 0 0.5\nv 0 1 " rand() "\nf 1 2 3\nv 3 3 3\nv 3 4 3\nv 4 3 3\nf 4 5 6"
    }' >still.obj
    for extra in "" "--thickness 0.1" "--mesh still.obj --thickness 0.02"; do
        # shellcheck disable=SC2086
        "$crossings" soup.obj $extra >printed.txt || [ $? = 1 ]
        # shellcheck disable=SC2086
        "$crossings" soup.obj $extra --brute >brute.txt || [ $? = 1 ]
        cmp printed.txt brute.txt || fail "size $size, \"$extra\": the search tells something else than all pairs"
    done
done

# ---- Caches
little() { # 32 bits each, low byte first
    local number shift
    for number in "$@"; do
        for shift in 0 8 16 24; do
            printf '%b' "\\x$(printf %02x $((number >> shift & 255)))"
        done
    done
}
one=1065353216
{
    printf 'POINTCACHE2\0'
    little 1 3 0 $one 2
    little 0 0 0 $one 0 0 0 $one 0
    little 0 0 0 $one 0 0 0 $one $one
} >short.pc2
obj cells "v 0 0 0" "v 1 0 0" "v 0 1 0" "f 1 2 3"
expect 0 "frame 1: crossings 0; shapes 0 m" short.pc2 cells.obj --plane 0 0 0 0 0 1
expect 1 "deepest 1 m" short.pc2 cells.obj --plane 0 0 0 0 0 -1
printf 'frame,time,particle,x,y,z,vx,vy,vz\n' >run.csv
printf '%s\n' 0,0,0,0,0,0,0,0,0 0,0,1,1,0,0,0,0,0 0,0,2,0,1,0,0,0,0 >>run.csv
printf '%s\n' 1,1,0,0,0,0,0,0,0 1,1,1,1,0,0,0,0,0 1,1,2,0,1,-2,0,0,0 >>run.csv
expect 1 "frame 1: crossings 1 (within 0, between 0, colliders 0, fans 0, entered 1, passed 0), deepest 2 m" run.csv cells.obj \
    --plane 0 0 0 0 0 1
if [ -n "$sinew" ]; then
    "$sinew" run "$source/scenes/jelly.json" --set write=body --frames 2 --format obj,pc2,csv --out run --quiet >/dev/null 2>&1
    expect 0 "3 frames, 0 with crossings" run
    "$crossings" run >printed.txt
    "$crossings" run/jelly.csv run/jelly.obj >csv.txt
    cmp printed.txt csv.txt || fail "obj and csv of one run differ"
    expect 0 "3 frames, 0 with crossings" run/jelly.pc2 run/jelly.obj
fi

# ---- Damaged files and options: one line, exit code 2
expect 2 "nowhere.obj: No such file" nowhere.obj
obj far "v 0 0 0" "v 1 0 0" "f 1 2 3"
expect 2 "far.obj:3: vertex 3 is not among the 2 before it" far.obj
obj words "v 0 0 zero"
expect 2 "words.obj:1: a vertex needs three numbers" words.obj
obj corners "v 0 0 0" "v 1 0 0" "f 1 2"
expect 2 "corners.obj:3: a face needs three vertices" corners.obj
obj text "v 0 0 0" "l 1 x"
expect 2 'text.obj:2: "x' text.obj
obj infinite "v 0 0 nan"
expect 2 "infinite.obj:1: a coordinate is not finite" infinite.obj
: >empty.obj
expect 2 "empty.obj: holds no vertices" empty.obj
head -c 90 short.pc2 >cut.pc2
expect 2 "cut.pc2: is shorter than its 2 frames" cut.pc2 cells.obj
expect 2 "short.pc2: has 3 points, its OBJ 6" short.pc2 apart.obj
expect 2 "short.pc2: name the OBJ of its cells" short.pc2
cp cells.obj no.pc2
expect 2 "no.pc2: is not a Point Cache 2 file" no.pc2 cells.obj
head -n 6 run.csv >cut.csv
expect 2 "cut.csv: frame 1 has not the 3 points" cut.csv cells.obj
cp cells.obj no.csv
expect 2 "no.csv: does not begin with" no.csv cells.obj
mkdir nothing
expect 2 "nothing: holds no NAME.0000.obj" nothing
mkdir two
cp cells.obj two/one.0000.obj
cp cells.obj two/other.0000.obj
expect 2 "two: has several runs" two
expect 2 "--frob: no such option" grid.obj --frob
expect 2 "--sphere: a number is missing" grid.obj --sphere 1 2
expect 2 "--sphere: sizes are positive" grid.obj --sphere 0 0 0 -1
expect 2 "--plane: the normal has no direction" grid.obj --plane 0 0 0 0 0 0
expect 2 "--frames 3:1: A:B is wanted" grid.obj --frames 3:1
expect 2 "no frame of those" grid.obj --frames 7:8
expect 2 "name a folder or files" --quiet
expect 0 "sinew run tablecloth" --help
echo "test_intersections: all as it should be"
