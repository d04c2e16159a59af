# SPDX-License-Identifier: MIT
"""The functions, structs and numbers of include/tilejit/tilejit.h and runtime.h, for ctypes.

One row for each function that the package uses: its name, what it gives, and its arguments by letter. The library is
loaded with ctypes.CDLL, so Python's lock is released for as long as a function runs.

    s  a tj_status               h  a handle, or any pointer      t  a zero-terminated text
    z  a size_t                  l  an int64_t or uint64_t        i  an int or an enum          -  nothing
    p  a tj_device_properties

How to add a function: a row. tests/test_binding.py holds the rows, structs and numbers against the header.
"""

from __future__ import annotations

import ctypes
from typing import Any, Callable

from . import _locate

OK, ERROR_INPUT, ERROR_USAGE, ERROR_SYSTEM, ERROR_MEMORY, ERROR_CANCELLED = range(6)
STATUS = ("TJ_OK", "TJ_ERROR_INPUT", "TJ_ERROR_USAGE", "TJ_ERROR_SYSTEM", "TJ_ERROR_MEMORY", "TJ_ERROR_CANCELLED")

# Names of enumerators, less their prefix, in the order of their values.
ENUMS = {
    "TJ_LANGUAGE_": ("TEXT", "JSON"),
    "TJ_TABLE_": ("VALUES", "OBJECT"),
    "TJ_SIMPLIFY_": ("TEXT", "TRACE", "JSON"),
    "TJ_SHOW_": ("TEXT", "SVG", "LATEX", "JSON"),
    "TJ_SHOW_COLOUR_": ("DEFAULT", "INDEX", "CYCLE", "THREAD", "VALUE", "NONE"),
    "TJ_CHECK_": ("TEXT", "JSON"),
    "TJ_EMIT_": ("AST", "VALUES", "INDEX", "SIMPLIFIED", "TILED", "LLVM", "ASM", "OBJECT", "HSACO", "PTX", "CUBIN",
                 "STATS"),
    "TJ_FUNCTION_": ("C", "HEADER", "LLVM", "BITCODE", "ASM", "OBJECT"),
    "TJ_CODE_": ("COMPILED", "FROM_MEMORY", "FROM_DISK", "FROM_KERNEL", "FROM_BUNDLE"),
    "TJ_KERNARG_": ("POINTER", "VALUE", "SCRATCH", "TENSOR_MAP"),
    "TJ_DEVICES_": ("TEXT", "JSON"),
}


def number(prefix: str, name: str) -> int:
    """The value of an enumerator, named in any case."""
    names = ENUMS[prefix]
    if name.upper() not in names:
        raise ValueError(f"{name!r} is none of {', '.join(names).lower()}")
    return names.index(name.upper())


class Diagnostic(ctypes.Structure):
    """tj_diagnostic"""

    _fields_ = [("status", ctypes.c_int), ("code", ctypes.c_uint), ("file", ctypes.c_char_p),
                ("line", ctypes.c_uint32), ("column", ctypes.c_uint32), ("length", ctypes.c_uint32),
                ("message", ctypes.c_char_p), ("note", ctypes.c_char_p), ("source_line", ctypes.c_char_p)]


class Blob(ctypes.Structure):
    """tj_blob"""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class ParameterValue(ctypes.Structure):
    """tj_parameter_value"""

    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_int64)]


class ShowOptions(ctypes.Structure):
    """tj_show_options"""

    _fields_ = [("form", ctypes.c_int), ("colour", ctypes.c_int), ("width", ctypes.c_size_t),
                ("tile", ctypes.c_int64 * 2), ("ansi", ctypes.c_int), ("has_arrows", ctypes.c_int),
                ("thread", ctypes.c_int64)]


class CheckOptions(ctypes.Structure):
    """tj_check_options"""

    _fields_ = [("kernel", ctypes.c_char_p), ("target", ctypes.c_char_p), ("dtype", ctypes.c_char_p),
                ("is_threads", ctypes.c_int), ("require", ctypes.POINTER(ctypes.c_char_p)),
                ("require_count", ctypes.c_size_t), ("form", ctypes.c_int),
                ("parameter", ctypes.POINTER(ParameterValue)), ("parameter_count", ctypes.c_size_t),
                ("candidates", ctypes.c_size_t), ("number", ctypes.POINTER(ctypes.c_char_p)),
                ("number_count", ctypes.c_size_t)]


class LdsQuestion(ctypes.Structure):
    """tj_lds_question"""

    _fields_ = [("declarations", ctypes.c_char_p), ("lds", ctypes.c_char_p), ("store", ctypes.c_char_p),
                ("load", ctypes.c_char_p), ("target", ctypes.c_char_p), ("dtype", ctypes.c_char_p),
                ("fixed", ctypes.POINTER(ParameterValue)), ("fixed_count", ctypes.c_size_t),
                ("require", ctypes.POINTER(ctypes.c_char_p)), ("require_count", ctypes.c_size_t),
                ("form", ctypes.c_int), ("bytes", ctypes.c_uint32), ("tile", ctypes.c_int64 * 2)]


class DmaQuestion(ctypes.Structure):
    """tj_dma_question"""

    _fields_ = [("declarations", ctypes.c_char_p), ("tensor", ctypes.c_char_p), ("tile", ctypes.c_char_p),
                ("lds", ctypes.c_char_p), ("at", ctypes.c_char_p), ("target", ctypes.c_char_p),
                ("dtype", ctypes.c_char_p), ("fixed", ctypes.POINTER(ParameterValue)),
                ("fixed_count", ctypes.c_size_t), ("form", ctypes.c_int), ("as_program", ctypes.c_int),
                ("function", ctypes.c_char_p)]


class CompileOptions(ctypes.Structure):
    """tj_compile_options"""

    _fields_ = [("kernel", ctypes.c_char_p), ("target", ctypes.c_char_p)]


class FunctionOptions(ctypes.Structure):
    """tj_function_options"""

    _fields_ = [("name", ctypes.c_char_p), ("target", ctypes.c_char_p), ("walk", ctypes.c_char_p),
                ("kernel", ctypes.c_char_p)]


class Argument(ctypes.Structure):
    """tj_argument"""

    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("numpy", ctypes.c_char_p),
                ("element_bytes", ctypes.c_size_t), ("element_count", ctypes.c_int64), ("is_read", ctypes.c_int),
                ("is_written", ctypes.c_int), ("is_row_major", ctypes.c_int), ("is_column_major", ctypes.c_int),
                ("lengths", ctypes.POINTER(ctypes.c_int64)), ("rank", ctypes.c_size_t)]


class TensorMap(ctypes.Structure):
    """tj_tensor_map"""

    _fields_ = [("element_bytes", ctypes.c_uint32), ("rank", ctypes.c_uint32), ("address", ctypes.c_uint64),
                ("extent", ctypes.c_uint64 * 5), ("stride", ctypes.c_uint64 * 5), ("box", ctypes.c_uint32 * 5),
                ("element_stride", ctypes.c_uint32 * 5), ("swizzle", ctypes.c_uint32)]


class Kernarg(ctypes.Structure):
    """tj_kernarg"""

    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int), ("offset", ctypes.c_size_t),
                ("bytes", ctypes.c_size_t), ("alignment", ctypes.c_size_t), ("is_bound", ctypes.c_int),
                ("value", ctypes.c_uint64), ("map", ctypes.POINTER(TensorMap))]


class Recipe(ctypes.Structure):
    """tj_recipe; `next` is one, too"""

    _fields_ = [("symbol", ctypes.c_char_p), ("grid", ctypes.c_uint64 * 3), ("block", ctypes.c_uint32 * 3),
                ("lds_bytes", ctypes.c_uint32), ("kernarg", ctypes.c_void_p), ("kernarg_bytes", ctypes.c_size_t),
                ("word", ctypes.POINTER(Kernarg)), ("word_count", ctypes.c_size_t),
                ("scratch_bytes", ctypes.c_size_t), ("next", ctypes.c_void_p)]


class DeviceProperties(ctypes.Structure):
    """tj_device_properties"""

    _fields_ = [("name", ctypes.c_char_p), ("target", ctypes.c_char_p), ("description", ctypes.c_char_p),
                ("bus", ctypes.c_char_p), ("uuid", ctypes.c_char_p), ("parallelism", ctypes.c_uint32),
                ("memory", ctypes.c_uint64)]


class CudaAttachment(ctypes.Structure):
    """tj_cuda_attachment"""

    _fields_ = [("library", ctypes.c_char_p), ("context", ctypes.c_void_p), ("stream", ctypes.c_void_p),
                ("has_own_stream", ctypes.c_int)]


STRUCTS = {"tj_diagnostic": Diagnostic, "tj_blob": Blob, "tj_parameter_value": ParameterValue,
           "tj_show_options": ShowOptions, "tj_check_options": CheckOptions,
           "tj_lds_question": LdsQuestion, "tj_dma_question": DmaQuestion,
           "tj_compile_options": CompileOptions, "tj_function_options": FunctionOptions, "tj_argument": Argument,
           "tj_tensor_map": TensorMap, "tj_kernarg": Kernarg, "tj_recipe": Recipe, "tj_device_properties": DeviceProperties,
           "tj_cuda_attachment": CudaAttachment}

FUNCTIONS = (
    ("tj_context_create", "s", "hh"),
    ("tj_context_destroy", "-", "h"),
    ("tj_context_diagnostic", "h", "h"),
    ("tj_context_set_reader", "-", "hhh"),
    ("tj_import_give", "s", "httz"),
    ("tj_import_refuse", "s", "ht"),
    ("tj_diagnostic_format", "z", "hihz"),
    ("tj_blob_release", "-", "hh"),
    ("tj_cache_create", "s", "hhh"),
    ("tj_context_set_cache", "-", "hh"),
    ("tj_language_functions", "s", "hih"),
    ("tj_program_create", "s", "httzhzh"),
    ("tj_program_destroy", "-", "h"),
    ("tj_program_value", "s", "hh"),
    ("tj_program_table", "s", "hih"),
    ("tj_program_simplify", "s", "hih"),
    ("tj_program_simplify_proved", "s", "hihh"),
    ("tj_program_show", "s", "hhh"),
    ("tj_program_check", "s", "hhhh"),
    ("tj_program_suggest", "s", "htih"),
    ("tj_check_lds", "s", "hhhh"),
    ("tj_suggest_lds_layouts", "s", "hhh"),
    ("tj_check_dma", "s", "hhhh"),
    ("tj_prove", "s", "httthzihh"),
    ("tj_target_list", "s", "hh"),
    ("tj_program_emit", "s", "hhih"),
    ("tj_program_function", "s", "hhih"),
    ("tj_code_compile_text", "s", "httzhzhh"),
    ("tj_code_destroy", "-", "h"),
    ("tj_code_bytes", "h", "hh"),
    ("tj_code_kernel", "t", "h"),
    ("tj_code_target", "t", "h"),
    ("tj_code_origin_of", "i", "h"),
    ("tj_device_list", "s", "hih"),
    ("tj_device_open", "s", "hth"),
    ("tj_device_attach_cuda", "s", "hhh"),
    ("tj_device_close", "-", "h"),
    ("tj_device_properties_of", "p", "h"),
    ("tj_buffer_create", "s", "hhzh"),
    ("tj_buffer_destroy", "-", "h"),
    ("tj_buffer_write", "s", "hzhz"),
    ("tj_buffer_read", "s", "hzhz"),
    ("tj_launch_create", "s", "hhh"),
    ("tj_launch_destroy", "-", "h"),
    ("tj_launch_set_parameter", "s", "htl"),
    ("tj_launch_set_number", "s", "htd"),
    ("tj_launch_set_shape", "s", "hthz"),
    ("tj_code_argument_count", "z", "h"),
    ("tj_code_argument_name", "t", "hz"),
    ("tj_launch_argument", "s", "hzh"),
    ("tj_launch_bind", "s", "hthz"),
    ("tj_launch_bind_buffer", "s", "hth"),
    ("tj_launch_bind_pointer", "s", "hthz"),
    ("tj_launch_prepare", "s", "hh"),
    ("tj_launch_run", "s", "hh"),
    ("tj_launch_submit", "s", "hhh"),
    ("tj_fence_is_done", "i", "h"),
    ("tj_fence_wait", "s", "hh"),
    ("tj_fence_destroy", "-", "h"),
    ("tj_launch_nanoseconds", "l", "h"),
    ("tj_launch_counter_count", "z", "h"),
    ("tj_launch_counter", "l", "hzh"),
    ("tj_version_text", "s", "hh"),
)

TYPES: dict[str, Any] = {"s": ctypes.c_int, "h": ctypes.c_void_p, "t": ctypes.c_char_p, "z": ctypes.c_size_t,
                         "l": ctypes.c_int64, "d": ctypes.c_double, "i": ctypes.c_int, "p": DeviceProperties, "-": None}


def _load() -> ctypes.CDLL:
    path = _locate.library_path()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"{path} cannot be loaded: {error}") from error
    for name, result, arguments in FUNCTIONS:
        function = getattr(library, name)
        function.restype = TYPES[result]
        function.argtypes = [TYPES[letter] for letter in arguments]
    return library


library: Any = _load()
Function = Callable[..., Any]
