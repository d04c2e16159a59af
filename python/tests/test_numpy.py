# SPDX-License-Identifier: MIT
"""Kernels on NumPy's arrays; skipped where there is no NumPy."""

import threading
import unittest

import tilejit

try:
    import numpy
except ImportError:
    numpy = None

TRANSPOSE = """param M in 1..4096, N in 1..4096
kernel transpose(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)"""
PACK = """param M in 1..64, N in 1..64, S in 1..4096, T in 1..4096
kernel pack(src: f32 @ (M,N):(S,T), dst: f32 @ (M,N):(N,1)) = copy(src, dst)"""
DEVICES = ["host", "sim:gfx942"]


class OnlyDlpack:
    """A NumPy array behind DLPack alone."""

    def __init__(self, array):
        self.__dlpack__ = array.__dlpack__


@unittest.skipUnless(numpy, "there is no NumPy")
class Arrays(unittest.TestCase):

    def setUp(self):
        self.a = numpy.arange(40 * 28, dtype="f4").reshape(40, 28)

    def test_transpositions(self):
        for device in DEVICES:
            with self.subTest(device):
                kernel = tilejit.kernel(TRANSPOSE, device=device)
                b, f = numpy.zeros((28, 40), "f4"), numpy.zeros((40, 28), "f4", order="F")
                kernel(self.a, b)
                self.assertTrue((b == self.a.T).all())
                kernel(self.a, f)
                self.assertTrue((f == self.a).all())

    def test_outputs_are_made(self):
        made = tilejit.kernel(TRANSPOSE)(self.a)
        self.assertTrue(made.flags.f_contiguous and (made == self.a).all())
        made = tilejit.kernel(TRANSPOSE)(src=self.a)
        self.assertEqual(made.shape, (40, 28))
        offsets = tilejit.kernel("(4,8):(8,1)")()
        self.assertEqual(offsets.tolist(), tilejit.table("(4,8):(8,1)"))  # a list: the first mode is the fastest
        offsets = tilejit.kernel("packed((4,8))")()
        self.assertEqual(offsets.tolist(), [list(range(8 * i, 8 * i + 8)) for i in range(4)])

    def test_overlaps(self):
        kernel = tilejit.kernel(TRANSPOSE)
        with self.assertRaises(tilejit.InputError) as caught:
            kernel(self.a, self.a.reshape(28, 40))
        self.assertEqual(caught.exception.code, 4001)

    def test_strided_arrays(self):
        for device in DEVICES:
            for view in (self.a[:, :13], self.a[::2, ::3], self.a[3:4, 2:9], self.a.T, self.a[5:, 1:2], self.a):
                with self.subTest(device=device, shape=view.shape, strides=view.strides):
                    pack = tilejit.kernel(PACK, device=device)
                    view = view[:60, :60]
                    self.assertTrue((pack(view) == view).all())
                    self.assertTrue((pack(src=OnlyDlpack(view)) == view).all())

    def test_refused(self):
        transpose, pack, b = tilejit.kernel(TRANSPOSE), tilejit.kernel(PACK), numpy.zeros((28, 40), "f4")
        constant = self.a.copy()
        constant.flags.writeable = False
        for code, kernel, arrays, named in [
                (6003, transpose, (self.a.astype("f8"), b), {}),
                (6003, transpose, (self.a.astype(">f4"), b), {}),
                (6015, transpose, (self.a[:, ::2], b), {}),
                (6015, transpose, (self.a, b), {"M": 41}),
                (6015, transpose, (self.a,), {"N": 31}),
                (6015, transpose, (numpy.asfortranarray(self.a), b), {}),
                (6015, transpose, (self.a, b[:, ::-1]), {}),
                (6015, pack, (self.a, numpy.zeros((40, 29), "f4")), {}),
                (6015, pack, (self.a, b), {}),
                (6015, transpose, (self.a, b[:20]), {}),
                (6015, transpose, (self.a, numpy.zeros((40, 28), "f4")), {}),
                (6002, transpose, (self.a, b.reshape(-1)[:1000]), {}),
                (4001, transpose, (self.a, constant), {}),
                (2025, transpose, (numpy.zeros((0, 4), "f4"), b), {}),
                (2026, transpose, (self.a, b), {"K": 1})]:
            with self.subTest(code=code):
                with self.assertRaises(tilejit.InputError) as caught:
                    kernel(*arrays, **named)
                self.assertEqual(caught.exception.code, code, str(caught.exception))
        transpose(constant, b)
        self.assertTrue((b == self.a.T).all())

    def test_types(self):
        for dtype, of_numpy in [("i8", "i1"), ("u16", "u2"), ("f16", "f2"), ("f64", "f8"), ("bf16", "u2"),
                                ("b32", "f4"), ("b64", "c8"), ("b128", "c16"), ("b8", "?"), ("f8e4m3fn", "u1"),
                                ("f8e5m2fnuz", "V1"), ("e8m0", "i1")]:
            with self.subTest(dtype):
                kernel = tilejit.kernel(f"kernel same(x: {dtype} @ 8:1, y: {dtype} @ 8:1) = copy(x, y)")
                x, y = numpy.arange(8).astype(of_numpy), numpy.zeros(8, of_numpy)
                kernel(x, y)
                self.assertTrue((x == y).all())

    def test_small_floats(self):
        quantize = tilejit.kernel("kernel k(x: f32 @ 6:1, y: f8e4m3fn @ 6:1) = copy(x, y)")
        codes = quantize(numpy.array([1, -1.5, 448, 1e9, 2.0 ** -9, 17], "f4"))
        self.assertEqual(codes.dtype, numpy.uint8)
        self.assertEqual(codes.tolist(), [0x38, 0xbc, 0x7e, 0x7e, 0x01, 0x58])

    def test_bits_of_what_numpy_lacks(self):
        made = tilejit.kernel("kernel k(x: f32 @ 3:1, y: bf16 @ 3:1) = copy(x, y)")(numpy.array([1, -2, 0.5], "f4"))
        self.assertEqual(made.dtype, numpy.uint16)
        self.assertEqual(made.tolist(), [0x3f80, 0xc000, 0x3f00])

    def test_integers_of_numpy(self):
        self.assertEqual(tilejit.Layout((numpy.int64(4), 8), (8, 1))(numpy.int32(1), 2), 10)
        b = numpy.zeros((28, 40), "f4")
        tilejit.kernel(TRANSPOSE)(self.a.ravel(), b.ravel(), M=numpy.int64(40), N=28)
        self.assertTrue((b == self.a.T).all())

    def test_buffers(self):
        device = tilejit.device("sim:gfx942")
        kernel = tilejit.kernel(TRANSPOSE, device="sim:gfx942")
        source, target, b = device.buffer(self.a), device.buffer(self.a.nbytes), numpy.empty((28, 40), "f4")
        kernel.submit(source, target).wait()
        target.read(b)
        self.assertTrue((b == self.a.T).all())

    def test_threads(self):
        kernel, failures = tilejit.kernel(TRANSPOSE), []

        def work(seed):
            for turn in range(50):
                a = numpy.random.default_rng(seed).random((seed + 1, turn + 1), "f4")
                if not (kernel(a) == a).all():
                    failures.append((seed, turn))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
