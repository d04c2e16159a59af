#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles what `tilejit check --dma … --function` emits for tensor maps, against a declaration of the driver's function
that says what it is called with, and compares with the plan that `--json` tells of the same tensor in numbers.

    run_tensor_map.py --tilejit PATH --cc CC --cxx CXX [--cuda FOLDER]

With the folder of CUDA's headers, C and C++ are also checked against those. Exit status 1 when anything differs.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
SECONDS = 120
ADDRESS = 4096

# What cuda.h has of tensor maps, with the numbers that its documentation gives.
DECLARATIONS = """
#include <inttypes.h>
#include <stdio.h>
#define CUDA_VERSION 12000
typedef int CUresult;
typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;
typedef struct { cuuint64_t opaque[16]; } CUtensorMap;
typedef enum { CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32,
               CU_TENSOR_MAP_DATA_TYPE_INT32, CU_TENSOR_MAP_DATA_TYPE_UINT64 } CUtensorMapDataType;
typedef enum { CU_TENSOR_MAP_INTERLEAVE_NONE } CUtensorMapInterleave;
typedef enum { CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B,
               CU_TENSOR_MAP_SWIZZLE_128B } CUtensorMapSwizzle;
typedef enum { CU_TENSOR_MAP_L2_PROMOTION_NONE } CUtensorMapL2promotion;
typedef enum { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE } CUtensorMapFloatOOBfill;

static void list(const char *name, const cuuint64_t *wide, const cuuint32_t *narrow, cuuint32_t count) {
  printf("\\"%s\\":[", name);
  for (cuuint32_t i = 0; i < count; i++)
    printf("%s%" PRIu64, i == 0 ? "" : ",", wide != NULL ? wide[i] : narrow[i]);
  printf("],");
}

static CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                       const cuuint64_t *extent, const cuuint64_t *stride, const cuuint32_t *box,
                                       const cuuint32_t *step, CUtensorMapInterleave interleave,
                                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                       CUtensorMapFloatOOBfill fill) {
  map->opaque[0] = 1;
  printf("{\\"tensorDataType\\":%d,\\"tensorRank\\":%u,\\"address\\":%" PRIuPTR ",", (int)type, rank,
         (uintptr_t)address);
  list("globalDim", extent, NULL, rank);
  list("globalStrides", stride, NULL, rank - 1);
  list("boxDim", NULL, box, rank);
  list("elementStrides", NULL, step, rank);
  printf("\\"interleave\\":%d,\\"swizzle\\":%d,\\"promotion\\":%d,\\"oobFill\\":%d,", (int)interleave, (int)swizzle,
         (int)promotion, (int)fill);
  return 0;
}
"""

DATA_TYPE = {"UINT8": 0, "UINT16": 1, "UINT32": 2, "UINT64": 4}
SWIZZLE = {"NONE": 0, "32B": 1, "64B": 2, "128B": 3}


@dataclasses.dataclass
class Case:
    """Tiles of a tensor, and where one begins; values of parameters at which it is tried."""

    tensor: str
    tile: str
    dtype: str
    at: tuple
    lds: str = ""
    parameters: dict = dataclasses.field(default_factory=dict)
    values: list = dataclasses.field(default_factory=lambda: [{}])

    @property
    def words(self):
        declared = "".join(f"param {name} in {facts}; " for name, facts in self.parameters.items())
        lds = ["--lds", self.lds] if self.lds else []
        return [*(["-e", declared] if declared else []), "--dma", self.tensor, "--tile", self.tile, "--dtype", self.dtype,
                "--target", "sm_90", *lds]


CASES = {
    "one dimension": Case("96:1", "16", "f32", (48,)),
    "constant": Case("(200,136):(136,1)", "(64,64)", "f16", (128, 64), "Sw<3,3,3> o 0 o (64,64):(64,1)"),
    "rows": Case("(M,N):(N,1)", "(64,64)", "f16", (64, 0), "Sw<3,3,3> o 0 o (64,64):(64,1)",
                 {"M": "1..65536", "N": "8..65536 multiple 8"}, [{"M": 65, "N": 8}, {"M": 4096, "N": 776}]),
    "short rows": Case("(M,N):(N,1)", "(64,32)", "u8", (0, 32), "Sw<2,4,3> o 0 o (64,32):(64,1)",
                       {"M": "1..65536", "N": "16..65536 multiple 16"}, [{"M": 2, "N": 48}]),
    "batch": Case("(B,M,64):(M*64,64,1)", "(1,16,64)", "u8", (3, 16, 0), "",
                  {"B": "1..4096", "M": "1..4096"}, [{"B": 4, "M": 17}, {"B": 4096, "M": 4095}]),
    "wide strides": Case("(L,4):(1,524288*L)", "(64,2)", "f64", (64, 2), "",
                         {"L": "64..65536 multiple 64"}, [{"L": 65536}]),
    "columns": Case("(K,M):(1,K)", "(64,16)", "f32", (0, 16), "Sw<1,2,3> o 0 o ((8,8),16):((1,128),8)",
                    {"K": "64..4096 multiple 64", "M": "1..65536"}, [{"K": 64, "M": 17}]),
    "pads and an offset": Case("transform(packed((H,56,64)), [slice(H,1,H), pad(56,1,1), pass_through(64)], "
                               "[[0],[1],[2]], [[0],[1],[2]])", "(8,8,64)", "f16", (8, 0, 0), "",
                               {"H": "10..512"}, [{"H": 10}, {"H": 57}]),
    "several instructions": Case("(M,N):(N,1)", "(64,128)", "f16", (0, 128), "Sw<3,3,3> o 0 o (64,(64,2)):(64,(1,4096))",
                                 {"M": "1..64", "N": "128..1024 multiple 8"}, [{"M": 9, "N": 200}]),
    "names of the function's own": Case("(map,address,extent,64):(64*extent*address,64*extent,64,1)", "(1,1,16,64)", "f16",
                                        (1, 2, 0, 0), "", {"map": "1..64", "address": "1..64", "extent": "1..64"},
                                        [{"map": 2, "address": 5, "extent": 17}]),
    "names of its arrays": Case("(stride,box,step,64):(64*step*box,64*step,64,1)", "(1,1,16,64)", "f16", (1, 2, 0, 0), "",
                                {"stride": "1..64", "box": "1..64", "step": "1..64"},
                                [{"stride": 2, "box": 5, "step": 17}]),
}


class Tester:
    def __init__(self, arguments, folder):
        self.tilejit, self.cc, self.cxx, self.cuda = arguments.tilejit, arguments.cc, arguments.cxx, arguments.cuda
        self.folder = folder
        self.failures = 0

    def run(self, words, status=0):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != status:
            raise AssertionError(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def plan(self, case, values):
        """What the plan of a tensor without parameters is, and the coordinates of the tile's instructions."""
        fixed = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
        at = str(case.at) if len(case.at) > 1 else f"({case.at[0]},)"
        return json.loads(self.run([self.tilejit, "check", *case.words, *fixed, "--at", at, "--json"]))

    def called(self, case, values, code):
        """What a program that makes the map gives to the driver, and the coordinates that functions give."""
        given = dict(values) | {f"c{mode}": value for mode, value in enumerate(case.at)}
        signature = re.search(r"load_0\(([^)]*)\) {", code).group(1)
        names = re.findall(r"int\d+_t (\w+)", signature)
        places = len(re.findall(r"TILEJIT_FUNCTION \w+ load_\d+\(", code))
        sizes = [str(given[name]) for name in re.findall(r"int\d+_t (\w+)", re.search(r"load_map\((.*)\) {", code).group(1))]
        instructions = self.plan(case, values)["instructions"]
        lines = []
        for number in range(instructions):
            arguments = ", ".join(str(number if name == "n" else given[name]) for name in names)
            values = ", ".join(f"(int64_t)load_{place}({arguments})" for place in range(places))
            form = ' ",'.join(['%" PRId64'] * places)
            lines.append(f'printf("{"," if number else ""}[{form} "]", {values});')
        main = f"""
int main(void) {{
  CUtensorMap map;
  static char memory[1];
  (void)memory;
  CUresult result = load_map({', '.join(['&map', f'(void *)(uintptr_t){ADDRESS}', *sizes])});
  printf("\\"places\\":[");
  {chr(10).join(lines)}
  printf("]}}");
  return result;
}}
"""
        (self.folder / "load.c").write_text(DECLARATIONS + code + main)
        flags = [*WARNINGS, "load.c", "-o", "load"]
        self.run([self.cxx, "-x", "c++", "-std=c++17", *flags])
        self.run([self.cc, "-std=c99", *flags])
        return json.loads(self.run([self.folder / "load"]))

    def check_values(self, case, values, code):
        plan, called = self.plan(case, values), self.called(case, values, code)
        wanted = plan["tensor_map"]
        expected = {name: wanted[name] for name in ("tensorRank", "globalDim", "globalStrides", "boxDim", "elementStrides")}
        expected |= {"tensorDataType": DATA_TYPE[wanted["tensorDataType"]], "swizzle": SWIZZLE[wanted["swizzle"]],
                     "interleave": 0, "promotion": 0, "oobFill": 0, "address": ADDRESS + plan["offset_bytes"],
                     "places": [[*issue["coordinates"], issue["lds_bytes"]] for issue in plan["issues"]]}
        if called != expected:
            raise AssertionError(f"{values}: called with\n{called}\nnot\n{expected}")

    def check_headers(self, code):
        (self.folder / "load.h").write_text(code)
        (self.folder / "user.c").write_text('#include <cuda.h>\n#include "load.h"\n')
        flags = [*WARNINGS, "-isystem", self.cuda, "-fsyntax-only"]
        self.run([self.cc, "-std=c11", *flags, "user.c"])
        self.run([self.cxx, "-x", "c++", "-std=c++17", *flags, "user.c"])

    def check(self, case):
        code = self.run([self.tilejit, "check", *case.words, "--function", "load"])
        if self.cuda:
            self.check_headers(code)
        for values in case.values:
            self.check_values(case, values, code)

    def check_all(self):
        for name, case in CASES.items():
            try:
                self.check(case)
            except AssertionError as failure:
                self.failures += 1
                print(f"{name}: {failure}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tilejit", required=True, type=pathlib.Path)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--cuda", type=pathlib.Path)
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(parser.parse_args(), pathlib.Path(folder))
        tester.check_all()
    print(f"{len(CASES)} tensors, {tester.failures} failed")
    return 1 if tester.failures else 0


if __name__ == "__main__":
    sys.exit(main())
