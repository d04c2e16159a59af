#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the peers' results (tests/vectors/*.jsonl) through the command's own language.

usage: run_vectors.py --tilejit PATH cute|ck|partitions FILE.jsonl
       run_vectors.py --tilejit PATH programs FILE.jsonl     whose rows name programs of examples/ck_tile
       run_vectors.py --tilejit PATH atoms FILE.tile

Every row becomes an expression; its value, structure included, and its table must be those of the row.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import zlib


def evaluate(tilejit, options, expressions):
    """One output line for each expression, whatever its length."""
    result = subprocess.run([tilejit, "eval", *options, "-"], input="".join(e + "\n" for e in expressions),
                            capture_output=True, text=True, check=False)
    lines = result.stdout.splitlines()
    if len(lines) != len(expressions):
        sys.exit(f"{len(expressions)} expressions gave {len(lines)} lines\n{result.stderr}")
    return lines


# --- CuTe ---

def argument(text):
    """`<a;b>` is our `<a, b>`; `identity(s)` our make_identity_layout(s)."""
    return text.replace(";", ", ").replace("identity(", "make_identity_layout(")


def cute_expression(row):
    args = [argument(a) for a in row["args"]]
    if row["op"] == "swizzle":
        return f"composition(Sw<{args[0]}>, {args[1]})"
    if row["op"] == "layout_at":
        return f"({args[0]})({args[1]})"
    return f"{row['op']}({', '.join(args)})"


def run_cute(tilejit, rows):
    expressions = [cute_expression(row) for row in rows]
    values = evaluate(tilejit, [], expressions)
    failures = [f"{e}: {v}, not {row['result']}"
                for e, v, row in zip(expressions, values, rows) if v != row["result"]]
    tabled = [(e, row) for e, row in zip(expressions, rows) if "table" in row]
    tables = evaluate(tilejit, ["--table"], [e for e, _ in tabled])
    for (expression, row), text in zip(tabled, tables):
        if text.startswith("error") or json.loads(text) != row["table"]:
            failures.append(f"{expression}: table {text[:80]}, not {str(row['table'])[:80]}")
    return len(expressions) + len(tabled), failures


# --- CK Tile ---

def tuple_of(numbers):
    return "(" + ",".join(map(str, numbers)) + ")"


TRANSFORMS = {
    "pass_through": lambda t: [t["length"]],
    "pad": lambda t: [t["length"], t["left"], t["right"]],
    "left_pad": lambda t: [t["length"], t["left"]],
    "right_pad": lambda t: [t["length"], t["right"]],
    "merge": lambda t: [tuple_of(t["lengths"])],
    "unmerge": lambda t: [tuple_of(t["lengths"])],
    "replicate": lambda t: [tuple_of(t["lengths"])],
    "embed": lambda t: [tuple_of(t["lengths"]), tuple_of(t["strides"])],
    "slice": lambda t: [t["length"], t["begin"], t["end"]],
    "modulo": lambda t: [t["modulus"], t["length"]],
    "xor": lambda t: t["lengths"],
    "offset": lambda t: [t["length"], t["offset"]],
    "freeze": lambda t: [t["index"]],
    "insert": lambda t: [t["length"]],
}


def transform_text(transform):
    return f"{transform['op']}({', '.join(map(str, TRANSFORMS[transform['op']](transform)))})"


def view_expression(row):
    base = row["base"]
    args = [tuple_of(base["lengths"])]
    if base["type"] == "strided":
        args.append(tuple_of(base["strides"]))
    if base["type"] == "aligned":
        args.append(str(base["align"]))
    if "guaranteed_vector_length" in base:
        args.append(f"vector=({base['guaranteed_vector_length']},{base['guaranteed_vector_stride']})")
    view = f"{base['type']}({', '.join(args)})"
    for stage in row["stages"]:
        transforms = ", ".join(map(transform_text, stage["transforms"]))
        view = f"transform({view}, [{transforms}], {stage['lower']}, {stage['upper']})"
    return view


def distribution_expression(row):
    names = {"rs": "rs", "hs": "hs", "ps_to_rhs_major": "ps_major", "ps_to_rhs_minor": "ps_minor",
             "ys_to_rhs_major": "ys_major", "ys_to_rhs_minor": "ys_minor"}
    return "distribution(" + ", ".join(f"{ours}={row[theirs]}" for theirs, ours in names.items()) + ")"


def table_matches(row, text):
    if text.startswith("error"):
        return False
    table = json.loads(text)
    raw_agrees = all(want is None or got == want for got, want in zip(table["values"], row["table"]))
    return (raw_agrees and len(table["values"]) == len(row["table"]) and table["valid"] == row["valid"]
            and table["lengths"] == row["lengths"])


def steps_match(row, text):
    """Offsets that CK leaves open are null."""
    if text.startswith("error"):
        return False
    steps = json.loads(text.replace("(", "[").replace(")", "]"))
    wanted = list(zip(row["offsets"], row["valid"]))
    return len(steps) == len(wanted) and all(
        valid == want_valid and want_offset in (None, offset)
        for (offset, valid), (want_offset, want_valid) in zip(steps, wanted))


def move_expression(row):
    return f"move({view_expression(row)}, {tuple_of(row['start'])}, {tuple_of(row['step'])}, {row['count']})"


def ck_values(row):
    """Expressions of a row with the values they must have."""
    if row["kind"] == "distribution":
        distribution = distribution_expression(row)
        return [(f"{name}({distribution})", tuple_of(row[name]))
                for name in ("p_lengths", "y_lengths", "x_lengths") if row[name]]
    view = view_expression(row)
    pairs = [(f"element_space_size({view})", str(row["element_space_size"])),
             (f"lengths({view})", tuple_of(row["lengths"]))]
    if row["kind"] == "vector":
        pairs += [(f"{name}({view})", tuple_of(row[name])) for name in ("vector_lengths", "vector_strides")]
    return pairs


def run_ck(tilejit, rows):
    pairs = [pair for row in rows for pair in ck_values(row)]
    values = evaluate(tilejit, [], [expression for expression, _ in pairs])
    failures = [f"{e}: {v}, not {want}" for (e, want), v in zip(pairs, values) if v != want]
    views = [row for row in rows if row["kind"] == "descriptor"]
    tables = evaluate(tilejit, ["--table", "--json"], [view_expression(row) for row in views])
    failures += [f"{row['name']}: table {text[:80]}" for row, text in zip(views, tables) if not table_matches(row, text)]
    moves = [row for row in rows if row["kind"] == "move"]
    steps = evaluate(tilejit, [], [move_expression(row) for row in moves])
    failures += [f"{row['name']}: {text}" for row, text in zip(moves, steps) if not steps_match(row, text)]
    distributions = [row for row in rows if row["kind"] == "distribution"]
    tables = evaluate(tilejit, ["--table"], [f"xs({distribution_expression(row)})" for row in distributions])
    for row, text in zip(distributions, tables):
        if text.startswith("error") or json.loads(text)[::row.get("stride", 1)] != row["table"]:
            failures.append(f"{row['name']}: table {text[:80]}")
    return len(pairs) + len(views) + len(moves) + len(distributions), failures


# --- programs that CK Tile's compiler reads, too ---

PROGRAMS = pathlib.Path(__file__).parent.parent / "examples/ck_tile"


def entries_of(row, table):
    """What CK Tile's host code prints: offset and validity, or the tile's coordinate."""
    if row["kind"] == "distribution":
        return table["values"] if isinstance(table["values"][0], list) else [[x] for x in table["values"]]
    return [list(pair) for pair in zip(table["values"], table.get("valid") or [1] * len(table["values"]))]


def run_programs(tilejit, rows):
    """The whole table of each program, by its first and last entries and the checksum of all."""
    failures, count = [], 0
    for row in rows:
        program = PROGRAMS / f"{row['program']}.tile"
        result = subprocess.run([tilejit, "eval", "--table", "--json", "-f", program], capture_output=True, text=True,
                                check=False)
        if result.returncode != 0:
            failures.append(f"{row['program']}: {result.stderr}")
            continue
        entries = entries_of(row, json.loads(result.stdout))
        checksum = zlib.crc32(json.dumps(entries, separators=(",", ":")).encode())
        found = [len(entries), entries[:4], entries[-2:], checksum]
        wanted = [row[key] for key in ("entries", "first", "last", "crc32")]
        failures += [f"{row['program']}: {found}, not {wanted}"] if found != wanted else []
        count += len(entries)
    return count, failures


# --- atoms and partitions ---

COPY_ATOMS = {"UniversalCopy<uint128_t>": "universal_copy(128, {})", "UniversalCopy<uint64_t>": "universal_copy(64, {})"}
ELEMENT_BITS = {"half_t": 16, "float": 32}
# CUTLASS writes strides that do not fit the shape; no layout has them, and (16,8) is what is meant.
MISPRINTED = {"((4,8),(32,2)):((512,1),((16,8)))": "((4,8),(32,2)):((512,1),(16,8))"}


def cpp_expression(text):
    """Layout<Shape<_2,_4>,Stride<_4,_1>>, Tile<_32,Underscore> and the like."""
    return parsed(re.findall(r"\w+|[<>]", text))


def parsed(tokens):
    word, items = tokens.pop(0), []
    if tokens[:1] == ["<"]:
        tokens.pop(0)
        while tokens[0] != ">":
            items.append(parsed(tokens))
        tokens.pop(0)
    return shaped(word, items)


def shaped(word, items):
    if word == "Layout":
        return ":".join(items) if len(items) > 1 else f"layout({items[0]})"
    if word in ("Shape", "Stride"):
        return tuple_of(items) if len(items) > 1 else f"({items[0]},)"
    if word == "Tile":
        return f"<{', '.join(items)}>"
    return "_" if word == "Underscore" else word.lstrip("_")


def atom_pairs(row):
    names = {"Shape_MNK": "mma_shape", "ThrID": "mma_threads", "ALayout": "mma_A", "BLayout": "mma_B", "CLayout": "mma_C"}
    return [(f"{names[field]}({row['atom']})", value) for field, value in row["result"].items()]


def mma_pairs(row):
    mma = f"tiled_mma({row['atom']}, {cpp_expression(row['threads'])}, {cpp_expression(row['permutation'])})"
    expressions = {"A_TV": "layout_A_TV({})", "B_TV": "layout_B_TV({})", "C_TV": "layout_C_TV({})",
                   "partition_C(128x64), thread 5": "partition_C({}, (128,64):(1,128), 5)"}
    return [(expressions.get(field, field + "({})").format(mma), value) for field, value in row["result"].items()]


def copy_pairs(row):
    atom = COPY_ATOMS.get(row["copy"], row["copy"] + "({})").format(ELEMENT_BITS[row["type"]])
    copy = f"tiled_copy({atom}, {cpp_expression(row['threads'])}, {cpp_expression(row['values'])})"
    expressions = {"S_TV": "layout_S_TV({})", "D_TV": "layout_D_TV({})", "tiler": "copy_tiler({})",
                   "partition_S(64x64), thread 3": "partition_S({}, (64,64):(1,64), 3)",
                   "partition_D(64x64), thread 3": "partition_D({}, (64,64):(1,64), 3)"}
    return [(expressions[field].format(copy), value) for field, value in row["result"].items()]


def copy_atom_pairs(row):
    return [(f"copy_{part}({row['atom']}({row['bits']}))", value) for part, value in row["result"].items()]


def run_partitions(tilejit, rows):
    kinds = {"mma_atom": atom_pairs, "tiled_mma": mma_pairs, "tiled_copy": copy_pairs, "copy_atom": copy_atom_pairs}
    pairs = [pair for row in rows for pair in kinds[row["kind"]](row)]
    values = evaluate(tilejit, [], ['import "atoms"; 0'] + [expression for expression, _ in pairs])[1:]
    failures = [f"{e}: {v}, not {want}" for (e, want), v in zip(pairs, values) if v != MISPRINTED.get(want, want)]
    return len(pairs), failures


# --- AMD's matrix instructions ---

# Where the library has another order of K than the ISA, in A as in B: of gfx12's 16-bit elements.
SAME_PRODUCTS = re.compile(r"gfx12_wmma_\w+_16x16x16_b?f16")


def table_of(bases):
    """The values of a linear map, the first input fastest, from those of the powers of two."""
    values = [0]
    for basis in bases:
        values += [value ^ basis for value in values]
    return values


def matrix_pairs(row):
    """What each lane has in each value, lanes fastest."""
    extents = row["shape"] if row["shape"][3] > 1 else row["shape"][:3]
    yield f"mma_shape({row['atom']})", f"({','.join(map(str, extents))})"
    for operand in "ABC":
        lanes, values = row[operand]
        if operand != "C" and SAME_PRODUCTS.fullmatch(row["atom"]):
            swapped = {64: 128, 128: 64}
            lanes, values = ([swapped.get(basis, basis) for basis in of] for of in (lanes, values))
        for number, basis in enumerate(lanes):
            yield f"mma_{operand}({row['atom']})({1 << number}, 0)", str(basis)
        for number, basis in enumerate(values):
            yield f"mma_{operand}({row['atom']})(0, {1 << number})", str(basis)
        yield f"mma_{operand}({row['atom']})({(1 << len(lanes)) - 1}, {(1 << len(values)) - 1})", \
            str(table_of(lanes + values)[-1])


def run_matrix(tilejit, rows):
    pairs = [pair for row in rows for pair in matrix_pairs(row)]
    values = evaluate(tilejit, [], ['import "atoms"; 0'] + [expression for expression, _ in pairs])[1:]
    return len(pairs), [f"{e}: {v}, not {want}" for (e, want), v in zip(pairs, values) if v != want]


# --- the library of atoms by itself ---

# Functions are of the bits of A's elements and of B's.
ATOM = re.compile(r"^let (\w+_(\d+)x(\d+)x(\d+)(?:_(\d+)b_)?\w*(?:\(a, b\))?) =", re.MULTILINE)


def run_atoms(tilejit, names):
    """Each matrix instruction has the shape that its name says; threads and values cover A, of sparse ones the half of
    it, B and C, and nothing else, and C once."""
    pairs = []
    for name, *extents, blocks in names:
        name = name.replace("(a, b)", "(8, 4)")
        m, n, k, b = map(int, (*extents, blocks or 1))
        shape = f"({m},{n},{k},{b})" if blocks else f"({m},{n},{k})"
        held = k // 2 if re.search("s[mw]f?mm?ac_", name) else k
        pairs.append((f"[mma_shape({name}), cosize(mma_A({name})), cosize(mma_B({name})), cosize(mma_C({name})), "
                      f"is_surjective(mma_A({name})), is_surjective(mma_B({name})), is_bijective(mma_C({name}))]",
                      f"[{shape}, {m * held * b}, {n * k * b}, {m * n * b}, 1, 1, 1]"))
    values = evaluate(tilejit, [], ['import "atoms"; 0'] + [expression for expression, _ in pairs])[1:]
    return len(pairs), [f"{e}: {v}, not {want}" for (e, want), v in zip(pairs, values) if v != want]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tilejit", required=True)
    parser.add_argument("peer", choices=["cute", "ck", "partitions", "programs", "atoms", "matrix"])
    parser.add_argument("file")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as file:
        rows = ATOM.findall(file.read()) if options.peer == "atoms" else [json.loads(line) for line in file]
    run = {"cute": run_cute, "ck": run_ck, "partitions": run_partitions, "programs": run_programs, "atoms": run_atoms,
           "matrix": run_matrix}
    count, failures = run[options.peer](options.tilejit, rows)
    for failure in failures:
        print(failure)
    print(f"{len(rows)} rows: {count - len(failures)} passed, {len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
