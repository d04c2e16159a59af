# SPDX-License-Identifier: MIT
"""Kernels of statements, as functions in C and as the host runs them: both must give the same, bit by bit.

Elements are codes: integers that have their bits. Inputs have all codes of types of up to 16 bits, and of the others
random ones, numbers between two of a shorter type, and the ends of ranges. What reductions come to, a kernel stores;
the functions get it as it is. NaN is NaN, whatever its bits.
"""

import dataclasses
import re
import struct
from random import Random

# By type: .npy's, struct's letter, C's; bits of a code, of them the fraction's; the codes of NaN begin beyond.
TYPES = {
    "i8": ("|i1", "b", "int8_t"), "u8": ("|u1", "B", "uint8_t"), "i16": ("<i2", "h", "int16_t"),
    "u16": ("<u2", "H", "uint16_t"), "i32": ("<i4", "i", "int32_t"), "u32": ("<u4", "I", "uint32_t"),
    "i64": ("<i8", "q", "int64_t"), "u64": ("<u8", "Q", "uint64_t"), "f16": ("<f2", "H", "uint16_t"),
    "bf16": ("<u2", "H", "uint16_t"), "f32": ("<f4", "I", "float"), "f64": ("<f8", "Q", "double"),
    "f8e4m3fn": ("|u1", "B", "uint8_t"), "f8e4m3fnuz": ("|u1", "B", "uint8_t"), "f8e5m2": ("|u1", "B", "uint8_t"),
    "f8e5m2fnuz": ("|u1", "B", "uint8_t"), "e8m0": ("|u1", "B", "uint8_t"),
}
SHORT = ("f16", "bf16", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "e8m0")
NAN = {
    "f16": lambda code: code & 0x7fff > 0x7c00, "bf16": lambda code: code & 0x7fff > 0x7f80,
    "f32": lambda code: code & 0x7fffffff > 0x7f800000, "f64": lambda code: code & (2**63 - 1) > 0x7ff << 52,
    "f8e4m3fn": lambda code: code & 0x7f == 0x7f, "f8e4m3fnuz": lambda code: code == 0x80,
    "f8e5m2": lambda code: code & 0x7f > 0x7c, "f8e5m2fnuz": lambda code: code == 0x80, "e8m0": lambda code: code == 255,
}


@dataclasses.dataclass
class Kernel:
    """Arguments (name: type, shape as strides say), statements, and extents; which destination has a reduction."""

    arguments: dict  # name: (type, layout); without a layout, a number
    body: str
    extents: dict
    reduced: dict = dataclasses.field(default_factory=dict)  # an argument of functions: who has stored it
    inputs: dict = dataclasses.field(default_factory=dict)  # codes in the place of those that the type has
    numbers: dict = dataclasses.field(default_factory=dict)

    def written(self):
        """The destinations."""
        found = re.findall(r"^\s*(\w+) = ", self.body, flags=re.M)
        return [name for name in self.arguments if name in found]

    def text(self):
        """The program."""
        declared = "".join(f"param {name} in 1..1000000\n" for name in self.extents)
        arguments = ", ".join(f"{name}: {dtype}" + (f" @ {layout}" if layout else "")
                              for name, (dtype, layout) in self.arguments.items())
        return f"{declared}kernel k({arguments}) = {{\n{self.body}\n}}\n"

    def size(self, name):
        """How many elements an argument has."""
        shape = self.arguments[name][1].split(":")[0].strip("()")
        count = 1
        for extent in shape.split(","):
            count *= self.extents.get(extent) or int(extent)
        return count


def flat(arguments, body, count, **more):
    """A kernel of vectors."""
    layouts = {name: (dtype, "M:1" if dtype not in ("alpha", "beta") else None) for name, dtype in arguments.items()}
    return Kernel(layouts, body, {"M": count}, **more)


def float_code(value, letter):
    return int.from_bytes(struct.pack("<" + letter, value), "little")


SPECIALS = {
    "f32": [0, 1 << 31, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x80000001, 0x7f7fffff, 0x00800000, 0x3f800000,
            0xbf800000, 0x3f000000, 0x3fc00000, 0x40200000, 0x4b000001, 0x477fefff, 0x477ff000, 0x33000000, 0x33000001],
    "f64": [0, 1 << 63, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 1, 2**63 + 1, (0x7ff << 52) - 1, 1 << 52, 0x3ff << 52,
            float_code(65520.0, "d"), float_code(65519.99999999999, "d"), float_code(1 + 2**-11, "d"),
            float_code(1 + 2**-11 + 2**-52, "d"), float_code(1 + 2**-8 + 2**-50, "d"), float_code(2.0**63, "d"),
            float_code(-2.0**63, "d"), float_code(2.0**64, "d"), float_code(-0.5, "d"), float_code(255.5, "d")],
}


def codes_of(dtype, count, random):
    """Codes of a type: all of them, or some of each kind."""
    bits = 8 * struct.calcsize(TYPES[dtype][1])
    signed = dtype in ("i8", "i16", "i32", "i64")
    if bits <= 16:
        codes = [random.randrange(2**bits) for _ in range(count)] if count < 2**bits else [i % 2**bits for i in range(count)]
    elif dtype in SPECIALS:
        letter = "f" if bits == 32 else "d"
        codes = SPECIALS[dtype][:count]
        while len(codes) < count:
            kind = random.randrange(4)
            if kind == 0:
                codes.append(random.getrandbits(bits))
            elif kind == 1:
                codes.append(float_code(random.uniform(-8, 8), letter))
            elif kind == 2:
                codes.append(float_code(random.randrange(-2000, 2000) / 8, letter))
            else:  # half a step of a shorter type from a number of it, more or less
                fraction = 23 if bits == 32 else 52
                kept = random.choice((2, 3, 7, 10, 23)) if bits == 64 else random.choice((2, 3, 7, 10))
                low = max(fraction - kept - 1, 0)
                near = float_code(random.choice((-1, 1)) * 2.0**random.randrange(-28, 18) * random.uniform(1, 2), letter)
                codes.append((near >> low | 1) << low | random.choice((0, 0, 1)))
    else:
        ends = [0, 1, 2**(bits - 1) - 1, 2**(bits - 1), 2**bits - 1, 2**24 + 1, 2**25 + 3, 2**31 + 2**22, (2**40 + 2**31) % 2**bits]
        codes = [ends[i] if i < len(ends) else random.getrandbits(random.randint(1, bits)) for i in range(count)]
    return [code - 2**bits if signed and code >= 2**(bits - 1) else code for code in codes]


FUNCTIONS = {
    1: ("abs", "floor", "round", "sqrt", "rsqrt", "exp", "exp2", "log", "log2", "tanh", "sigmoid", "erf"),
    2: ("minimum", "maximum", "lt", "le", "gt", "ge", "eq", "ne", "pack_u4", "pack_i4", "pack_f4e2m1"),
}


def all_functions(dtype):
    """A kernel with a destination for each function."""
    values = [f"{name}(x)" for name in FUNCTIONS[1]] + [f"{name}(x, z)" for name in FUNCTIONS[2]]
    values += ["x + z", "x - z", "x * z", "x / z", "-x", "select(x, z, 3)", "floor(log2(abs(x)))", "x * z + z",
               "z - x * x", "-(x * z) + 1", "exp2(x * z)", "u4(q, x)", "i4(q, z)", "f4e2m1(q, lt(x, 0))"]
    arguments = {"x": dtype, "z": dtype, "q": "u8"} | {f"y{i}": dtype for i in range(len(values))}
    return flat(arguments, "\n".join(f"y{i} = {value}" for i, value in enumerate(values)), 3000)


def conversions(dtype):
    """From a type to all, as what is stored and on the way."""
    bits = 8 * struct.calcsize(TYPES[dtype][1])
    count = 2**bits if bits <= 16 else 4000
    between = ("f16", "f8e5m2", "i8", "u32") if dtype in ("f32", "f64", "i64") else ()
    arguments = {"x": dtype} | {f"y_{to}": to for to in TYPES} | {f"z_{to}": "f64" for to in between}
    body = [f"y_{to} = x" for to in TYPES] + [f"z_{to} = {to}(x) * 3" for to in between]
    return flat(arguments, "\n".join(body), count)


def random_value(random, depth):
    if depth == 0 or random.random() < 0.15:
        return random.choice(("x", "h", "b", "n", "d", "alpha", "index(0)", "M", "2 * M + 1", "0.1", "3", "-0.5"))
    kind = random.random()
    args = [random_value(random, depth - 1) for _ in range(3)]
    if kind < 0.5:
        return f"({args[0]} {random.choice('+-*/')} {args[1]})"
    if kind < 0.7:
        return f"{random.choice(FUNCTIONS[1])}({args[0]})"
    if kind < 0.8:
        return f"{random.choice(FUNCTIONS[2][:8])}({args[0]}, {args[1]})"
    if kind < 0.9:
        return f"{random.choice(('f16', 'bf16', 'f32', 'f8e4m3fn', 'i8', 'i32', 'f64', 'e8m0'))}({args[0]})"
    return f"select({', '.join(args)})"


def random_kernels(count):
    """Statements of random expressions, of which each destination has another type."""
    random = Random(7)
    for number in range(count):
        types = random.sample(list(TYPES), 4)
        arguments = {"x": "f32", "h": "f16", "b": "bf16", "n": "i32"} | ({"d": "f64"} if number % 3 == 0 else {"d": "i8"})
        arguments |= {f"y{i}": dtype for i, dtype in enumerate(types)}
        values = [f"x + {random_value(random, random.randint(2, 4))}" for _ in types]
        values[0] += " + h - b * n / d + alpha"
        body = "\n".join(f"y{i} = {value}" for i, value in enumerate(values))
        kernel = flat(arguments, body, 200, numbers={"alpha": 0.3})
        kernel.arguments["alpha"] = ("f32", None)
        yield f"random_{number}", kernel


ROWS, ONE = "(M,N):(N,1)", "(M,1):(1,1)"
SMALL = {"M": 7, "N": 33}


def kernels():
    """All of them by name."""
    yield "single", all_functions("f32")
    yield "twice", all_functions("f64")
    for dtype in TYPES:
        yield f"from_{dtype}", conversions(dtype)
    yield from random_kernels(12)
    yield "softmax", Kernel({"x": ("f16", ROWS), "y": ("f16", ROWS), "m": ("f32", ONE), "s": ("f32", ONE)},
                            "let e = exp(x - max(x, 1))\nm = max(x, 1)\ns = sum(e, 1)\ny = e / sum(e, 1)", SMALL,
                            {"max0": "m", "sum1": "s"}, {"x": [15000 + 17 * i % 3000 for i in range(7 * 33)]})
    yield "rms", Kernel({"x": ("bf16", ROWS), "w": ("f32", "(1,N):(0,1)"), "y": ("bf16", ROWS), "s": ("f32", ONE),
                         "eps": ("f32", None)},
                        "s = sum(x * x, 1)\ny = x * rsqrt(mean(x * x, 1) + eps) * w", SMALL, {"sum0": "s"},
                        {"x": [16000 + 7 * i % 500 for i in range(7 * 33)]}, {"eps": 1e-5})
    yield "names", flat({"float": "f32", "v0": "f32", "fmaf": "f32", "sum0": "f32", "gamma": "f32", "NAN": "f32",
                         "M_PI": "f32", "INT32_MAX": "f32", "y": "f32"},
                        "y = float * v0 + fmaf - sum0 * gamma + NAN * M_PI - INT32_MAX", 50)
    yield "no_element", flat({"y": "i32"}, "y = index(0) * 2 + M", 50)


# --- the program in C ---

def npy(dtype, shape, codes):
    """The bytes of an array file."""
    kind, letter, _ = TYPES[dtype]
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(codes)}{letter}", *codes)


def codes_in(data, dtype):
    """The codes in an array file, or in bytes that are nothing else; those of NaN are None."""
    if data[:6] == b"\x93NUMPY":
        data = data[10 + struct.unpack_from("<H", data, 8)[0]:]
    letter = TYPES[dtype][1]
    codes = struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data)
    is_nan = NAN.get(dtype, lambda code: False)
    return [None if is_nan(code) else code for code in codes]


def element(owner, kernel, name, index="i"):
    """An element of an argument of kernel `owner` as a function takes it."""
    dtype, layout = kernel.arguments[name]
    if layout in (ONE, "(1,N):(0,1)"):
        index = f"i / {kernel.extents['N']}" if layout == ONE else f"i % {kernel.extents['N']}"
    place = f"{owner}_in_{name}[{index}]"
    return f"tilejit_{dtype}_number({place})" if dtype in SHORT else place


def actual(owner, kernel, name):
    """What an argument of kernel `owner`'s functions gets."""
    if name in kernel.reduced:
        return element(owner, kernel, kernel.reduced[name])
    own = (known for known in (name, name.removeprefix("p")) if known in kernel.arguments)
    plain = next(own, name.rstrip("_"))
    if plain in kernel.numbers:
        return f"{kernel.numbers[plain]}f"
    if plain in kernel.arguments:
        return element(owner, kernel, plain)
    return str(kernel.extents[plain]) if plain in kernel.extents else "i"


def call_of(owner, kernel, header, function):
    """A call of an emitted function of kernel `owner`, by its signature."""
    found = re.search(rf"^TILEJIT_FUNCTION \w+ {function}\((.*)\) {{$", header, flags=re.M)
    names = [] if found[1] == "void" else [word.split()[-1] for word in found[1].split(", ")]
    return f"{function}({', '.join(actual(owner, kernel, name) for name in names)})"


def part_of(name, kernel, header):
    """C that computes the destinations of a kernel from files with their inputs."""
    arrays, functions, steps = [], [], []
    for argument, (dtype, layout) in kernel.arguments.items():
        size = kernel.size(argument) if layout else 0
        if argument in kernel.written():
            arrays.append(f"SHARED {TYPES[dtype][2]} {name}_out_{argument}[{size}];")
        if layout and (argument not in kernel.written() or argument in kernel.reduced.values()):
            arrays.append(f"SHARED {TYPES[dtype][2]} {name}_in_{argument}[{size}];")
            steps.append(f'  load("{name}.{argument}", {name}_in_{argument}, sizeof {name}_in_{argument});')
    for destination in kernel.written():
        dtype, layout = kernel.arguments[destination]
        function = name if len(kernel.written()) == 1 else f"{name}_{destination}"
        value = call_of(name, kernel, header, function)
        stored = f"tilejit_{dtype}_code({value})" if dtype in SHORT else value
        place = "i" if layout != ONE else f"i / {kernel.extents['N']}"
        rows = kernel.size(destination) if layout != ONE else kernel.size(destination) * kernel.extents["N"]
        out = f"{name}_out_{destination}"
        functions += [f"KERNEL {name}_store_{destination}(void) {{", f"  EACH({rows})", f"    {out}[{place}] = {stored};", "}"]
        steps += [f"  LAUNCH({name}_store_{destination}, {rows});", f'  save("{name}.{destination}.out", {out}, sizeof {out});']
    return "\n".join([*arrays, *functions, f"static void {name}_part(void) {{", *steps, "}", ""])


FRAME = """#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
{headers}
#if defined(__CUDACC__)
#define SHARED static __managed__
#define KERNEL static __global__ void
#define EACH(count)                                              \\
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);    \\
  if (i < (count))
#define LAUNCH(kernel, count)                                    \\
  kernel<<<((count) + 255) / 256, 256>>>();                      \\
  if (cudaDeviceSynchronize() != cudaSuccess)                    \\
  exit(1)
#elif defined(__HIP__) /* of which only the kernels are compiled */
#define SHARED __device__
#define KERNEL extern "C" __global__ void
#define EACH(count)                                              \\
  const int i = (int)__builtin_amdgcn_workitem_id_x();           \\
  if (i < (count))
#define LAUNCH(kernel, count) (void)0
#else
#define SHARED static
#define KERNEL static void
#define EACH(count) for (int i = 0; i < (count); i++)
#define LAUNCH(kernel, count) kernel()
#endif

static void load(const char *name, void *data, size_t size) {{
  FILE *file = fopen(name, "rb");
  if (file == NULL || fread(data, 1, size, file) != size)
    exit(1);
  fclose(file);
}}

static void save(const char *name, const void *data, size_t size) {{
  FILE *file = fopen(name, "wb");
  if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
    exit(1);
}}

{parts}
int main(void) {{
{calls}  return 0;
}}
"""


class Statements:
    """The kernels, their functions in C, and what the host makes of them, in a folder."""

    def __init__(self, tilejit, folder, run):
        self.tilejit, self.folder, self.run = tilejit, folder, run
        self.kernels = dict(kernels())
        self.expected, self.headers = {}, {}
        for name, kernel in self.kernels.items():
            self.prepare(name, kernel)

    def write(self, name, argument, dtype, codes):
        """What C reads; and an array file, which the command does."""
        (self.folder / f"{name}.{argument}").write_bytes(npy(dtype, (), codes)[-len(codes) * struct.calcsize(TYPES[dtype][1]):])

    def prepare(self, name, kernel):
        """Emits, and runs on the host."""
        random = Random(name)
        program = self.folder / f"{name}.tile"
        program.write_text(kernel.text(), encoding="utf-8")
        self.headers[name] = self.folder / f"{name}.c.h"
        self.run([self.tilejit, "compile", program, "--emit", "c", "--function", name, "-o", self.headers[name]], self.folder)
        words = [self.tilejit, "run", program, *(f"--set={p}={v}" for p, v in kernel.extents.items()),
                 *(f"--arg={p}={v}" for p, v in kernel.numbers.items())]
        written = kernel.written()
        for argument, (dtype, layout) in kernel.arguments.items():
            if layout is None:
                continue
            codes = kernel.inputs.get(argument) or codes_of(dtype, kernel.size(argument), random)
            self.write(name, argument, dtype, codes)
            file = self.folder / f"{name}.{argument}.npy"
            if argument in written:
                words.append(f"--out={argument}={file}")
            else:
                file.write_bytes(npy(dtype, (len(codes),) if layout == "M:1" else tuple(
                    kernel.extents.get(extent) or int(extent) for extent in layout.split(":")[0].strip("()").split(",")), codes))
                words.append(f"--in={argument}={file}")
        self.run(words, self.folder)
        for argument in written:
            dtype = kernel.arguments[argument][0]
            data = (self.folder / f"{name}.{argument}.npy").read_bytes()
            self.expected[name, argument] = codes_in(data, dtype)
        for argument in kernel.reduced.values():
            size = kernel.size(argument) * struct.calcsize(TYPES[kernel.arguments[argument][0]][1])
            (self.folder / f"{name}.{argument}").write_bytes((self.folder / f"{name}.{argument}.npy").read_bytes()[-size:])

    def programs(self, each=8):
        """Programs in C, of so many kernels each, whose functions stand in one file."""
        names = list(self.kernels)
        for group in (names[i:i + each] for i in range(0, len(names), each)):
            texts = {name: self.headers[name].read_text(encoding="utf-8") for name in group}
            yield FRAME.format(headers="".join(f'#include "{self.headers[name].name}"\n' for name in group),
                               parts="\n".join(part_of(name, self.kernels[name], texts[name]) for name in group),
                               calls="".join(f"  {name}_part();\n" for name in group))

    def differences(self):
        """What the program has stored that the host has not; but for what stands for a reduction."""
        for (name, argument), expected in self.expected.items():
            kernel = self.kernels[name]
            dtype = kernel.arguments[argument][0]
            if argument in kernel.reduced.values():
                continue
            found = codes_in((self.folder / f"{name}.{argument}.out").read_bytes(), dtype)
            for index, (code, other) in enumerate(zip(found, expected)):
                if code != other:
                    yield f"{name}: element {index} of {argument}, {dtype}, has the code {code}, not {other}:\n{kernel.text()}"
                    break
