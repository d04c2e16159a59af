# SPDX-License-Identifier: MIT
"""Values and layouts: what is written, what comes back, what goes wrong."""

import os
import pathlib
import tempfile
import unittest
import unittest.mock

import tilejit
from tilejit import Layout, _value, language

EVALUATED = [
    ("((4,8):(8,1))(2,3)", 19),
    ("-7 / 2", -4),
    ("shape((4,(2,4)):(8,(1,2)))", (4, (2, 4))),
    ("(4)", (4,)),
    ("()", ()),
    ("(4,8):(8,1)", Layout("(4,8):(8,1)")),
    ("Sw<3,0,3> o 0 o (8,8):(8,1)", Layout("Sw<3,0,3> o 0 o (8,8):(8,1)")),
]

# What Python writes, and how CuTe prints it.
LAYOUTS = [
    (lambda: Layout((4, 8), (8, 1)), "(4,8):(8,1)"),
    (lambda: Layout((4, 8)), "(4,8):(1,4)"),
    (lambda: Layout(4, 2), "4:2"),
    (lambda: Layout((4,), (2,)), "(4):(2)"),
    (lambda: Layout((4, (2, 4)), (8, (1, 2))), "(4,(2,4)):(8,(1,2))"),
    (lambda: Layout((8, 8), ("1@0", "1@1")), "(8,8):(1@0,1@1)"),
    (lambda: Layout((6, 2), (8, 2)) @ Layout((4, 3), (3, 1)), "((2,2),3):((24,2),8)"),
    (lambda: Layout((6, 2), (8, 2)).o("(4,3):(3,1)"), "((2,2),3):((24,2),8)"),
    (lambda: "Sw<3,0,3>" @ Layout((8, 8), (8, 1)), "Sw<3,0,3> o 0 o (8,8):(8,1)"),
    (lambda: tilejit.eval("Sw<3,0,3>") @ Layout((8, 8), (8, 1)), "Sw<3,0,3> o 0 o (8,8):(8,1)"),
    (lambda: Layout((8, 6), (1, 8)).zipped_divide((4, 3)), "((4,3),(2,2)):((1,8),(4,24))"),
    (lambda: Layout((8, 6), (1, 8)).logical_divide("<4:1, 3:1>"), "((4,2),(3,2)):((1,4),(8,24))"),
    (lambda: Layout((2, 2)).blocked_product(Layout((3, 4))), "((2,3),(2,4)):((1,4),(2,12))"),
    (lambda: language.complement("4:2", 24), "(2,3):(1,8)"),
    (lambda: Layout((4, 8), (8, 1))(None, 3), "(4):(8)"),
    (lambda: Layout((4, 8), (8, 1))[1], "8:1"),
    (lambda: Layout((4, 8), (8, 1))[-2], "4:8"),
    (lambda: tilejit.eval("param M in 1..9, N in 1..M; (N,4):(4,1)")[0], "N:4"),
]


class Values(unittest.TestCase):

    def test_eval(self):
        for text, value in EVALUATED:
            with self.subTest(text):
                self.assertEqual(tilejit.eval(text), value)

    def test_layouts_print_as_cute_does(self):
        for make, text in LAYOUTS:
            with self.subTest(text):
                layout = make()
                self.assertEqual(str(layout), text)
                self.assertEqual(eval(repr(layout), {"Layout": Layout}), layout)

    def test_calls(self):
        layout = Layout((4, (2, 4)), (8, (1, 2)))
        self.assertEqual(layout(1, (1, 2)), 13)
        self.assertEqual(layout(9), layout(1, (0, 1)))
        self.assertEqual([layout.size(), len(layout), layout.depth()], [32, 2, 2])
        self.assertEqual(layout.shape, (4, (2, 4)))
        self.assertEqual(layout.stride, (8, (1, 2)))
        self.assertEqual([str(mode) for mode in layout], ["4:8", "(2,4):(1,2)"])
        self.assertEqual([str(layout[:1]), str(layout[::-1])], ["(4):(8)", "((2,4),4):((1,2),8)"])

    def test_methods_are_the_functions_of_the_language(self):
        self.assertLessEqual(set(tilejit.functions()), set(dir(Layout(4))) & set(dir(language)))
        self.assertGreater(len(tilejit.functions()), 80)
        self.assertIn("(tile, rest) by mode", Layout(4).logical_divide.__doc__)
        with self.assertRaises(AttributeError):
            Layout(4).no_such_function
        with self.assertRaises(AttributeError):
            language.no_such_function

    def test_every_function_gives_its_example(self):
        """The form of a call does not matter: the text, evaluated, is what the table says."""
        for name, function in tilejit.functions().items():
            with self.subTest(name):
                self.assertEqual(_value.written(tilejit.eval(function.example)).replace(" ", "").replace(",)", ")"),
                                 function.value.replace(" ", "").replace(",)", ")"))

    def test_parameters_go_along(self):
        layout = tilejit.eval("param M in 1..512, N in 1..2147483647/M, K in 1..9; (N, 4):(4, 1)")
        self.assertEqual(sorted(layout.declarations), ["M", "N"])
        self.assertEqual(str(layout.size()), "N*4")
        self.assertTrue(tilejit.prove(layout, Layout(layout.program())))
        self.assertEqual(str(tilejit.eval("param M in 1..8; (M,4):(4,1)", fixed={"M": 3})), "(3,4):(4,1)")

    def test_equality_is_that_of_texts(self):
        self.assertNotEqual(Layout((4, 8)), Layout(32))
        self.assertEqual(len({Layout((4, 8)), Layout("(4,8):(1,4)"), Layout(32)}), 2)

    def test_wrong_values(self):
        for make, expected in [(lambda: Layout("19"), TypeError), (lambda: Layout((4, 8))[2], IndexError),
                               (lambda: Layout(4.5), TypeError), (lambda: Layout(4)["0"], TypeError),
                               (lambda: tilejit.eval(None), TypeError), (lambda: tilejit.eval(b"4:1"), TypeError),
                               (lambda: Layout((4, 8), (1,)), tilejit.InputError)]:
            with self.assertRaises(expected):
                make()


class Errors(unittest.TestCase):

    def test_parts(self):
        with self.assertRaises(tilejit.InputError) as caught:
            tilejit.eval("\n  (5,3):(7,1) o 7:1")
        error = caught.exception
        self.assertIsInstance(error, ValueError)
        self.assertEqual((error.code, error.file, error.line, error.column, error.length),
                         (2004, "<expression>", 2, 3, 17))
        self.assertEqual(error.source_line, "  (5,3):(7,1) o 7:1")
        self.assertIn("divides", error.note)
        self.assertIn("error: TJ2004: " + error.message, str(error))

    def test_paths(self):
        path = pathlib.Path(__file__).with_name("no such file.tile")
        with self.assertRaises(FileNotFoundError):
            tilejit.eval(path)
        with self.assertRaises(tilejit.Error) as caught:
            tilejit.device("hsa:999")
        self.assertIn(caught.exception.code, (6001, 6011, 6012))

    def test_they_show_what_was_called(self):
        for call, line in [(lambda: Layout((4, 8), (8, 1, 2)), "(4, 8):(8, 1, 2)"),
                           (lambda: Layout((4, 8))(2, 9), "((4,8):(1,4))(2, 9)"),
                           (lambda: Layout((4, 8), (8, 1)) @ Layout(5, 7), "((4,8):(8,1)) o (5:7)")]:
            with self.subTest(line), self.assertRaises(tilejit.InputError) as caught:
                call()
            self.assertEqual(caught.exception.source_line, line)

    def test_notes_are_in_words_of_python(self):
        with self.assertRaises(tilejit.InputError) as caught:
            tilejit.device("gfx942")
        self.assertIn("tilejit.devices()", caught.exception.note)
        self.assertIn(caught.exception.note, str(caught.exception))

    def test_names_that_there_are_not(self):
        for call in [lambda: tilejit.show("4:1", color="red"), lambda: tilejit.function("4:1", "at", "cpp"),
                     lambda: tilejit.emit("4:1", "nothing"), lambda: tilejit.check("4:1", candidates=-1)]:
            self.assertRaises(ValueError, call)
        for call in [lambda: tilejit.check("4:1", require="injective"), lambda: tilejit.device(0)]:
            self.assertRaises(TypeError, call)

    def test_zero_bytes(self):
        with self.assertRaises(tilejit.InputError) as caught:
            tilejit.eval("4\0")
        self.assertEqual(caught.exception.code, 1005)
        with self.assertRaises(ValueError):
            tilejit.emit("4:1", "asm", kernel="a\0b")

    def test_large_integers(self):
        with self.assertRaises(OverflowError):
            tilejit.eval("param M; M", fixed={"M": 1 << 63})


class Imports(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "atoms").mkdir()
        (self.folder / "atoms" / "shapes.tile").write_text("param M in 1..64 let tall = (M, 4):(4, 1)")
        (self.folder / "kernels.tile").write_text(
            'import "atoms/shapes.tile" kernel same(src: f32 @ tall, dst: f32 @ tall) = copy(src, dst)')

    def test_files(self):
        (self.folder / "value.tile").write_text('import "atoms/shapes.tile"; tall')
        tall = tilejit.eval(self.folder / "value.tile")
        self.assertEqual(tall.program(), "param M in 1..64; (M,4):(4,1)")
        kernel = tilejit.kernel(self.folder / "kernels.tile")
        self.assertEqual(list(kernel.layouts()), ["src", "dst"])
        target = bytearray(32)
        kernel(bytes(range(32)), target, M=2)
        self.assertEqual(target, bytes(range(32)))

    def test_libraries(self):
        with unittest.mock.patch.dict(os.environ, TILEJIT_PATH=f"/nowhere:{self.folder / 'atoms'}"):
            self.assertEqual(str(tilejit.eval('import "shapes"; tall', fixed={"M": 2})), "(2,4):(4,1)")

    def test_what_comes_with_the_library(self):
        atom = tilejit.eval('import "atoms"; mma_C(SM80_16x8x16_F32F16F16F32_TN)')
        self.assertEqual(str(atom), "((4,8),(2,2)):((32,1),(16,8))")

    def test_missing_ones(self):
        for text in ('import "none.tile"; 1', 'import "none"; 1', f'import "{"x" * 5000}.tile"; 1'):
            with self.assertRaises(tilejit.InputError) as caught:
                tilejit.eval(text)
            self.assertEqual(caught.exception.code, 2040)


class Telling(unittest.TestCase):

    def test_simplify(self):
        simple = tilejit.simplify("param i in 0..1023, j in 0..23; (i*24+j)/24", prove=True)
        self.assertEqual(str(simple).splitlines()[0], "i")
        self.assertEqual((simple.data["after"]["text"], simple.proved), ("i", True))
        self.assertIn("quotient_of_multiple", tilejit.simplify("param i in 0..9; (i*4)/4", trace=True).text)
        self.assertIsNone(tilejit.simplify("4:1").proved)

    def test_prove(self):
        self.assertTrue(tilejit.prove("(M,N):(1,M)", "(M*N):(1)", "param M in 1..512, N in 1..512"))
        different = tilejit.prove(Layout((4, 8)), Layout((4, 8), (8, 1)))
        self.assertFalse(different)
        self.assertIn("different", str(different))

    def test_check(self):
        checked = tilejit.check("(4,2):(1,3)", require=["injective"])
        self.assertFalse(checked)
        self.assertIn("injective: no", str(checked))
        self.assertEqual(checked.data["checks"][0]["findings"][0]["verdict"], "no")
        self.assertTrue(tilejit.check(Layout((4, 8)), require=["bijective"]))

    def test_check_at_parameters(self):
        text = "param N in 1..1000; kernel k(s: f32 @ N:1, d: f32 @ N:1) = copy(s, d)"
        variants = [check["parameters"] for check in tilejit.check(text, target="gfx942").data["checks"][1:]]
        self.assertEqual(variants, [{"N": 1000}, {"N": 3}])
        checked = tilejit.check(text, target="gfx942", passed={"N": 100})
        self.assertEqual([check["parameters"] for check in checked.data["checks"][1:]], [{"N": 100}])
        scaled = "param N in 1..9; kernel k(x: f32 @ N:1, alpha: f32, y: f32 @ N:1) = { y = alpha * x }"
        self.assertTrue(tilejit.check(scaled, target="gfx942", passed={"N": 5, "alpha": 0.5}))
        with self.assertRaises(tilejit.Error):
            tilejit.check(scaled, target="gfx942", passed={"beta": 0.5})

    def test_tiles_in_lds(self):
        rows, columns = Layout((32, 32), (32, 1)), Layout((32, 32), (1, 32))
        checked = tilejit.check_lds(rows, store=rows, load=columns, require=["conflict-free"])
        self.assertFalse(checked)
        self.assertEqual(checked.data["checks"][0]["findings"][0]["about"], "lds")
        best = tilejit.suggest_lds(store=rows, load=columns, tile=(32, 32)).data["layouts"][0]
        self.assertTrue(tilejit.check_lds(best["layout"], store=rows, load=columns, require=["conflict-free"]))
        named = tilejit.check_lds("A", store="A", declarations="let A = (32,32):(32,1)", target="sm_90")
        self.assertIn("sm_90", str(named))
        self.assertRaises(TypeError, tilejit.check_lds, rows)

    def test_tiles_by_engines(self):
        tensor = tilejit.eval("param M in 1..64; (M,64):(64,1)")
        self.assertTrue(tilejit.check_dma(tensor, (16, 64), target="sm_90"))
        self.assertTrue(tilejit.check_dma("(M,64):(64,1)", (16, 64), target="gfx1250", declarations="param M in 1..64"))
        self.assertIn("why", tilejit.check_dma("(64,64):(64,2)", (16, 64), target="sm_90").data)
        with self.assertRaises(tilejit.InputError) as caught:
            tilejit.check_dma(tensor, (16, 64), target="gfx942")
        self.assertEqual(caught.exception.code, 5001)

    def test_suggest(self):
        self.assertIn("multiple", str(tilejit.suggest("param M in 1..64; (8,M):(M,1)")))

    def test_show(self):
        picture = tilejit.show("Sw<2,0,2> o (4,4):(4,1)", color="cycle")
        self.assertIn("|  5 |  4 |  7 |  6 |", str(picture))
        self.assertTrue(picture._repr_svg_().startswith("<?xml") or picture._repr_svg_().startswith("<svg"))
        self.assertIn("<svg", picture._repr_html_())
        self.assertIn("tikz", picture.latex)
        self.assertEqual(len(picture.data["panels"][0]["cells"]), 16)
        self.assertIn("<svg", Layout((4, 8))._repr_svg_())
        large = tilejit.eval("param M in 1..8; (M,4):(4,1)")
        self.assertIsNone(large._repr_svg_())
        with self.assertRaises(ValueError):
            picture.save("picture.png")

    def test_rest(self):
        self.assertEqual(tilejit.table("(3,2):(2,3)"), [0, 2, 4, 3, 5, 7])
        self.assertIn("i0 * 8 + (i0 ^ i1)", tilejit.function("Sw<3,0,3> o 0 o (8,8):(8,1)", "at"))
        self.assertEqual(tilejit.function("4:1", "at", "bitcode", target="gfx942")[:2], b"BC")
        self.assertIn("s_endpgm", tilejit.emit("(4,8):(8,1)", "asm", target="gfx942"))
        self.assertEqual(tilejit.version().split()[:2], ["tilejit", tilejit.__version__])
        self.assertIn("host", [device.name for device in tilejit.devices()])


if __name__ == "__main__":
    unittest.main()
