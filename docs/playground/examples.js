// SPDX-License-Identifier: MIT
// Examples to start from: states of the page. The first one is what a page without an address shows.
"use strict";

const TILE = `# A tile of 64 x 64 f16 on its way through shared memory.
let rows = thread_raked((64,64), 256, 8)
let operand = (((32,2),(2,2)),(8,2)):(((1,512),(32,2048)),(64,1024))
let plain = (64,64):(64,1)
let padded = (64,64):(72,1)
let swizzled = Sw<3,3,3> o 0 o (64,64):(64,1)`;

const EXAMPLES = [
  { name: "A swizzle, drawn by banks", state: { view: "picture", color: "cycle", program: "Sw<3,0,3> o 0 o (8,8):(8,1)" } },
  { name: "A layout with modes in its modes", state: { view: "picture", program: "((2,3),(4,2)):((1,8),(2,24))" } },
  { name: "Tiles of a matrix", state: { view: "picture", color: "cycle", program: "zipped_divide((4,6):(6,1), (2,3))" } },
  { name: "The algebra: A after B", state: { view: "value", program: "(6,2):(8,2) o (4,3):(3,1)" } },
  { name: "CuTe's C++, pasted", state: { view: "picture", color: "cycle", program: "composition(Swizzle<2,0,3>{}, make_layout(make_shape(Int<8>{}, Int<8>{}), LayoutRight{}))" } },
  { name: "A layout as CuTe's C++", state: { view: "value", "value-as": "cute", program: "zipped_divide((64,32):(32,1), (16,8))" } },
  { name: "An error, and its note", state: { view: "value", program: "# 5 rows do not divide 7.\n(5,3):(7,1) o 7:1" } },
  { name: "Who holds what: a distribution", state: { view: "picture", program: "thread_raked((16,16), 64, 4)" } },
  { name: "An operand of a matrix instruction", state: { view: "picture", tile: "(16,8)", program: "import \"atoms\";\nmma_A(SM80_16x8x8_F32F16F16F32_TN)" } },
  { name: "Is it coalesced?", state: { view: "check", target: "gfx942", dtype: "f16", program: "thread_raked((64,64), 256, 8)" } },
  { name: "Bank conflicts of a tile", state: { view: "conflicts", store: "rows", load: "operand", lds: "plain", target: "gfx942", dtype: "f16", program: TILE } },
  { name: "Bank conflicts, swizzled away", state: { view: "conflicts", store: "rows", load: "operand", lds: "swizzled", target: "gfx942", dtype: "f16", program: TILE } },
  { name: "Shared memory of an NVIDIA GPU", state: { view: "conflicts", store: "rows", load: "operand", lds: "swizzled", target: "sm_90", dtype: "f16", program: TILE } },
  { name: "A tile by one instruction", state: { view: "dma", dma: "(1000,776):(1,1000)", tile: "(64,64)", lds: "(64,64):(65,1)", target: "gfx1250", program: "# A matrix whose columns are contiguous, to rows with pads." } },
  { name: "A tensor map of TMA", state: { view: "dma", dma: "image", tile: "(64,128)", lds: "Sw<3,3,3> o 0 o (64,(64,2)):(64,(1,4096))", target: "sm_90", dtype: "f16", program: "let image = (1024,1024):(1024,1)" } },
  { name: "Simplification, step by step", state: { view: "simplify", program: "param i in 0..1023, j in 0..23;\n(i*24 + j)/24" } },
  { name: "What LLVM does not see", state: { view: "simplify", proved: "1", program: "param a in 0..9, b in 0..5, c in 0..4;\n((a*6 + b)*5 + c)/30" } },
  { name: "A view with padding", state: { view: "picture", program: "transform(packed((4,4)), [pad(4,1,1), pad(4,1,1)], [[0],[1]], [[0],[1]])" } },
  { name: "Extents that are known later", state: { view: "value", program: "param M in 64..65536 multiple 64;\nzipped_divide((M,64):(64,1), (64,64))" } },
  { name: "How wide may accesses be?", state: { view: "check", about: "global", dtype: "f16", program: "param N in 1..4096 multiple 4;\n(64,N):(N,1)" } },
  { name: "A proof", state: { view: "prove", other: "param M in 64..65536 multiple 64; M:1", program: "param M in 64..65536 multiple 64;\ncoalesce((64,M/64):(1,64))" } },
  { name: "Offsets as C", state: { view: "function", function: "swizzled", program: "Sw<3,0,3> o 0 o (8,8):(8,1)" } },
  { name: "A walk without divisions, as C", state: { view: "function", function: "tile", walk: "step=(0,32)", program: "param K in 32..65536 multiple 32;\nstrided((64,K),(K,1))" } },
  { name: "A transposition: who moves what", state: { view: "kernel", target: "gfx942", program: "kernel turn(src: f16 @ (4096,64):(64,1), dst: f16 @ (4096,64):(1,4096)) = copy(src, dst)" } },
];
