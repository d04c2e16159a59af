# SPDX-License-Identifier: MIT
"""Kernels on arrays of the standard library and on what speaks DLPack: no NumPy."""

import array
import ctypes
import gc
import mmap
import os
import pathlib
import signal
import struct
import threading
import time
import unittest

import tilejit
from tilejit._array import memory_of
from tilejit._binding import library

DEVICES = [os.environ.get("TILEJIT_TEST_DEVICE", "host"), "sim:gfx942"]
TRANSPOSE = """param M in 1..4096, N in 1..4096
kernel transpose(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)"""
DOUBLE = "param N in 1..100000; kernel double(x: f32 @ (N):(1), y: f32 @ (N):(1)) = copy(x, y, scale=2.0)"
PACK = """param M in 1..64, N in 1..64, S in 1..4096
kernel pack(src: i32 @ (M,N):(S,1), dst: i32 @ (M,N):(N,1)) = copy(src, dst)"""


def floats(count):
    return array.array("f", range(count))


def transposed(values, rows, columns):
    return array.array("f", [values[i * columns + j] for j in range(columns) for i in range(rows)])


class Tensor:
    """An object that has nothing but __dlpack__: a 2 x 3 view of ten 32-bit integers, rows 5 apart."""

    class Managed(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                    ("rank", ctypes.c_int32), ("kind", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                    ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                    ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

    def __init__(self, kind=0, bits=32, device=(1, 0)):
        self.data = (ctypes.c_int32 * 10)(*range(10))
        self.shape, self.strides = (ctypes.c_int64 * 2)(2, 3), (ctypes.c_int64 * 2)(5, 1)
        address = ctypes.addressof
        self.managed = self.Managed(address(self.data), *device, 2, kind, bits, 1, address(self.shape),
                                    address(self.strides), 4)

    def __dlpack__(self, **_):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.managed), b"dltensor", None)


class Calls(unittest.TestCase):

    def test_copies(self):
        for device in DEVICES:
            with self.subTest(device):
                kernel = tilejit.kernel(TRANSPOSE, device=device)
                self.assertEqual((kernel.name, kernel.arguments), ("transpose", ("src", "dst")))
                source, target = floats(35 * 22), floats(35 * 22)
                self.assertIsNone(kernel(source, target, M=35, N=22))
                self.assertEqual(target, transposed(source, 35, 22))
                self.assertEqual(source, floats(35 * 22))
                self.assertGreater(kernel.last_run().nanoseconds, 0)
                self.assertEqual("waves" in kernel.last_run().counters, device != "host")

    def test_parameters_from_shapes(self):
        double, source, target = tilejit.kernel(DOUBLE), floats(100), floats(100)
        double(source, target)
        self.assertEqual(target[99], 198)
        transpose = tilejit.kernel(TRANSPOSE)
        view = memoryview(source).cast("B").cast("f", (5, 20))
        transpose(src=view, dst=target)
        self.assertEqual(target, transposed(source, 5, 20))

    def test_parameters_from_strides(self):
        for device in DEVICES:
            with self.subTest(device):
                target = array.array("i", [0] * 6)
                tilejit.kernel(PACK, device=device)(Tensor(), memoryview(target).cast("B").cast("i", (2, 3)))
                self.assertEqual(list(target), [1, 2, 3, 6, 7, 8])

    def test_shapes_of_views(self):
        kernel = tilejit.kernel("param M in 1..99, N in 1..99; kernel pad(src: f32 @ view((M,N):(N,1)), "
                                "dst: f32 @ view((M,N):(N,1))) = copy(src, dst)")
        self.assertEqual(kernel.layouts(), {})
        source, target = (memoryview(floats(12)).cast("B").cast("f", (3, 4)) for _ in range(2))
        kernel(source, target)
        with self.assertRaises(tilejit.InputError) as caught:
            kernel(source, memoryview(floats(12)).cast("B").cast("f", (4, 3)))
        self.assertEqual(caught.exception.code, 6015)

    def test_numbers(self):
        text = """param N in 1..100
        kernel scaled(x: f32 @ (N):(1), alpha: f32, y: f32 @ (N):(1)) = { y = x * alpha + alpha }"""
        for device in DEVICES:
            kernel = tilejit.kernel(text, device=device)
            for alpha in (2.5, 3, -0.5, 0.0, -0.0):
                with self.subTest(device=device, alpha=alpha):
                    target = floats(4)
                    kernel(array.array("f", [-1, 0, 1, 2]), target, alpha=alpha, N=4)
                    wanted = array.array("f", [x * alpha + alpha for x in (-1, 0, 1, 2)])
                    self.assertEqual(target.tobytes(), wanted.tobytes())

    def test_fixed_parameters(self):
        kernel = tilejit.kernel(TRANSPOSE, fixed={"M": 4, "N": 2})
        target = floats(8)
        kernel(floats(8), target)
        self.assertEqual(target, transposed(floats(8), 4, 2))

    def test_untyped_bytes(self):
        kernel, target, source = tilejit.kernel(DOUBLE), bytearray(12), struct.pack("3f", 1, 2, 3)
        kernel(source, target, N=3)
        self.assertEqual(struct.unpack("3f", target), (2, 4, 6))
        with mmap.mmap(-1, 4096) as mapped:
            kernel(source, mapped, N=3)
            self.assertEqual(struct.unpack("3f", mapped[:12]), (2, 4, 6))
        target.append(0)

    def test_code(self):
        self.assertEqual(tilejit.kernel(DOUBLE, device="sim:gfx1100").code[:4], b"\x7fELF")
        self.assertIn(tilejit.kernel(DOUBLE).origin, ("compiled", "from_memory", "from_kernel", "from_disk"))

    def test_many_shapes(self):
        """More than a thread keeps."""
        kernel = tilejit.kernel(DOUBLE)
        for _ in range(2):
            for count in range(1, 100):
                target = floats(count)
                kernel(floats(count), target)
                self.assertEqual(target[-1], 2 * (count - 1))


class Refused(unittest.TestCase):

    def refused(self, code, *arrays, text=DOUBLE, device="host", **named):
        with self.assertRaises(tilejit.InputError) as caught:
            tilejit.kernel(text, device=device)(*arrays, **named)
        self.assertEqual(caught.exception.code, code, str(caught.exception))
        self.assertTrue(caught.exception.note)

    def test_arrays(self):
        four, five = floats(4), floats(5)
        same = memoryview(bytearray(16)).cast("f")
        self.refused(6003, array.array("d", four), four)
        self.refused(6003, Tensor(kind=5, bits=64), four)
        self.refused(4001, four, memoryview(bytes(16)).cast("f"))
        self.refused(6015, four, five)
        self.refused(6015, memoryview(floats(8))[::2], four)
        self.refused(6002, bytes(16), bytearray(12), N=4)
        self.refused(4001, same, same)
        self.refused(4001, Tensor(device=(10, 0)), bytearray(24), text=PACK)
        self.refused(4001, Tensor(device=(2, 0)), bytearray(24), text=PACK)
        self.refused(6007, bytes(16), bytearray(16))

    def test_parameters(self):
        self.refused(2026, floats(4), floats(4), K=4)
        self.refused(2025, bytes(16), bytearray(16), N=0)
        self.refused(6015, floats(4), floats(4), N=5)
        self.refused(2025, floats(4), floats(4), N=2.0)

    def test_calls(self):
        kernel, four = tilejit.kernel(DOUBLE), floats(4)
        for arrays, named in [((four, four, four), {}), ((four, four), {"x": four}), ((four, 7), {}),
                              ((four, "text"), {}), ((four, four), {"N": "4"})]:
            with self.assertRaises(TypeError):
                kernel(*arrays, **named)
        with self.assertRaises(OverflowError):
            kernel(four, four, N=1 << 70)

    def test_arguments_that_are_read(self):
        self.refused(4001, y=floats(4), N=4)


class Memory(unittest.TestCase):

    def test_formats(self):
        for letter, dtype in zip("bBhHiIqQfd", "|i1 |u1 <i2 <u2 <i4 <u4 <i8 <u8 <f4 <f8".split()):
            self.assertEqual(memory_of(array.array(letter, [1])).key.dtype, dtype)
        self.assertEqual(memory_of(Tensor(kind=4, bits=16)).key.dtype, "bf16")
        self.assertEqual(memory_of(Tensor(kind=2, bits=16)).key.dtype, "<f2")
        self.assertEqual(memory_of(Tensor(kind=12, bits=8)).key.dtype, "f8e5m2")

    def test_a_buffer_is_held(self):
        owner = bytearray(8)
        memory = memory_of(owner)
        with self.assertRaises(BufferError):
            owner.append(0)
        del memory
        owner.append(0)


class Devices(unittest.TestCase):

    def test_buffers(self):
        for name in DEVICES:
            with self.subTest(name):
                device = tilejit.device(name)
                self.assertIs(device, tilejit.device(name))
                source, middle, last = device.buffer(floats(64)), device.buffer(256), device.buffer(floats(64))
                double = tilejit.kernel(DOUBLE, device=name)
                fences = [double.submit(source, middle, N=64), double.submit(middle, last)]
                self.assertGreater(fences[1].wait(), 0)
                self.assertTrue(all(fence.done for fence in fences))
                self.assertEqual(last.read(array.array("f", [0] * 64)), array.array("f", range(0, 256, 4)))
                self.assertEqual(len(last.read()), 256)
                last.write(floats(2), 8)
                self.assertEqual(last.read(floats(2), 8), floats(2))
                with self.assertRaises(tilejit.InputError):
                    last.write(floats(2), 252)

    def test_another_devices_buffer(self):
        kernel = tilejit.kernel(DOUBLE)
        with self.assertRaises(tilejit.InputError) as caught:
            kernel(tilejit.device("sim:gfx942").buffer(floats(4)), floats(4))
        self.assertEqual(caught.exception.code, 4001)

    def test_submitted_arrays_are_kept(self):
        """On the host launches take arrays; the fence keeps them, also where nobody else does."""
        owner = bytearray(4096)
        fence = tilejit.kernel(DOUBLE).submit(bytes(4096), owner, N=1024)
        with self.assertRaises(BufferError):
            owner.append(0)
        fence.wait()
        owner.append(0)

    def test_host_memory_is_not_submitted_to_others(self):
        with self.assertRaises(tilejit.InputError) as caught:
            tilejit.kernel(DOUBLE, device="sim:gfx942").submit(floats(4), floats(4))
        self.assertEqual(caught.exception.code, 4001)


class Recipes(unittest.TestCase):

    def test_blocks(self):
        kernel = tilejit.kernel(TRANSPOSE, target="gfx942")
        self.assertIsNone(kernel.device)
        recipe = kernel.recipe(M=35, N=22)
        pointers = [word for word in recipe.words if word.kind == "pointer"]
        self.assertEqual([(word.name, word.is_bound, word.value) for word in pointers],
                         [("src", False, 0), ("dst", False, 0)])
        self.assertEqual({word.name: word.value for word in recipe.words if word.name in "MN"}, {"M": 35, "N": 22})
        self.assertIn(recipe.symbol.encode(), kernel.code)
        self.assertEqual((recipe.block[1:], recipe.grid[1:], recipe.grid[0] % recipe.block[0]), ((1, 1), (1, 1), 0))
        for word in recipe.words:
            self.assertEqual(int.from_bytes(recipe.kernarg[word.offset:word.offset + word.bytes], "little"), word.value)

    def test_kernels_behind(self):
        """Few long rows are reduced in pieces, and what these are reduced to by another kernel."""
        text = "kernel sums(x: f32 @ (2, 1000000):(1000000, 1), s: f32 @ (2, 1):(1, 1)) = { s = sum(x, 1) }"
        recipe = tilejit.kernel(text, target="gfx942").recipe()
        self.assertGreater(recipe.grid[0], 128 * recipe.block[0])
        self.assertEqual((recipe.next.symbol, recipe.next.grid[0], recipe.next.next), ("sums.2", 512, None))
        self.assertEqual([word.name for word in recipe.words if word.kind == "scratch"], ["scratch"])
        self.assertEqual((recipe.next.kernarg, recipe.scratch_bytes), (recipe.kernarg, 4096))

    def test_tensors_of_a_device(self):
        """Addresses are taken as they are, parameters from shapes and strides."""
        recipe = tilejit.kernel(PACK, target="gfx942").recipe(Tensor(device=(10, 3)))
        values = {word.name: word.value for word in recipe.words}
        self.assertEqual([values[name] for name in "MNS"], [2, 3, 5])
        self.assertTrue(values["src"])
        self.assertEqual(values["dst"], 0)

    def test_refused(self):
        kernel = tilejit.kernel(DOUBLE, target="gfx942")
        with self.assertRaises(tilejit.InputError) as caught:
            kernel.recipe(floats(4))
        self.assertEqual(caught.exception.code, 4001)
        with self.assertRaises(tilejit.InputError) as caught:
            kernel.recipe()
        self.assertEqual(caught.exception.code, 6007)
        with self.assertRaises(RuntimeError):
            kernel(floats(4), floats(4))
        with self.assertRaises(TypeError):
            tilejit.kernel(DOUBLE, target="gfx942", device="host")

    def test_a_gpu_uses_its_own_memory(self):
        """A GPU of the HSA runtime, in whose place the simulator stands, is given addresses that others know."""
        simulator = pathlib.Path(library._name).resolve().with_name("libtilejit-hsasim.so")
        os.environ.setdefault("TILEJIT_HSA_LIBRARY", str(simulator))
        gpu = tilejit.device("hsa:0")
        source, target = gpu.buffer(array.array("i", range(10))), gpu.buffer(array.array("i", [0] * 6))
        kernel = tilejit.kernel(PACK, device="hsa:0")
        words = kernel.recipe(source, target, M=2, N=3, S=5).words
        address = {word.name: word.value for word in words}
        tensor = Tensor(device=(10, 0))
        tensor.managed.data = address["src"]
        kernel.submit(tensor, target).wait()
        self.assertEqual(target.read(array.array("i", [0] * 6)), array.array("i", [1, 2, 3, 6, 7, 8]))
        with self.assertRaises(tilejit.InputError) as caught:
            kernel(Tensor(device=(10, 1)), target)
        self.assertEqual(caught.exception.code, 4001)


class Threads(unittest.TestCase):

    def test_shared_kernels(self):
        """Threads share kernels of two devices; each has results of its own, and objects outlive their thread."""
        kernels = [tilejit.kernel(TRANSPOSE, device=name) for name in DEVICES]
        failures, left_over = [], []

        def work(seed):
            try:
                for turn in range(4):
                    rows, columns = 3 + seed, 5 + turn
                    source, target = floats(rows * columns), floats(rows * columns)
                    kernels[(seed + turn) % 2](source, target, M=rows, N=columns)
                    if target != transposed(source, rows, columns):
                        failures.append((seed, turn))
                left_over.append((tilejit.kernel(DOUBLE), tilejit.device("sim:gfx942").buffer(floats(8))))
            except BaseException as error:  # pylint: disable=broad-except
                failures.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        for made, _ in left_over:
            target = floats(4)
            made(floats(4), target)
            self.assertEqual(target[3], 6)

    def test_the_lock_is_released(self):
        """While one thread runs a kernel for long, another goes on."""
        kernel = tilejit.kernel(TRANSPOSE, device="sim:gfx942")
        source, target = bytes(4 * 2048 * 1024), bytearray(4 * 2048 * 1024)
        running = threading.Thread(target=kernel, args=(source, target), kwargs={"M": 2048, "N": 1024})
        running.start()
        turns = 0
        while running.is_alive():
            running.join(0.001)
            turns += 1
        self.assertGreater(turns, 3)

    def test_forked_processes(self):
        """They have none of the parent's threads: the host opens again, other devices say what is wrong."""
        kernels = [tilejit.kernel(TRANSPOSE, device=name) for name in ("host", "sim:gfx942")]
        source, count = floats(1024 * 1024), 1024 * 1024
        for kernel in kernels:
            kernel(source[:64], floats(64), M=8, N=8)
        kernels[0](source, floats(count), M=1024, N=1024)
        child = os.fork()
        if child == 0:
            outcome = 1
            try:
                target = floats(count)
                kernels[0](source, target, M=1024, N=1024)
                outcome = 2 if target[1] == 1024 else 3
                kernels[1](source[:64], floats(64), M=8, N=8)
            except RuntimeError:
                outcome = 0 if outcome == 2 else 4
            finally:
                os._exit(outcome)
        deadline, ended = time.monotonic() + 60, 0
        while ended == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
            ended, status = os.waitpid(child, os.WNOHANG)
        if ended == 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            self.fail("the child hangs")
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)

    def test_garbage_in_cycles(self):
        """Cycles let go of contexts, kernels, launches and fences in any order."""
        def make():
            kernel = tilejit.kernel(DOUBLE)
            cycle = [kernel, kernel.submit(floats(4), floats(4)), tilejit.device("host").buffer(16)]
            kernel(floats(4), floats(4))
            cycle.append(cycle)

        for _ in range(3):
            thread = threading.Thread(target=make)
            thread.start()
            thread.join()
            gc.collect()


if __name__ == "__main__":
    unittest.main()
