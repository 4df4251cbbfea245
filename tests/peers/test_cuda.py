"""The CUDA that kernels write, compiled by NVIDIA's run-time compiler, which needs no GPU."""

import ctypes
import sysconfig
import warnings
from pathlib import Path

import pytest
from random_states import robots

from pivotree import kkt, orderings

pytestmark = pytest.mark.peers
SINGULAR = {"romeo", "romeo_laas_small"}  # massless links at the end of a joint: refused
SHORT = {"ur5", "panda", "simple_humanoid_classical"}  # all others are soak: seconds each
EXAMPLES = [
    pytest.param(name, marks=[pytest.mark.soak] * (name not in SHORT))
    for name in sorted({*robots()} - SINGULAR)
]


def compiler():
    """NVIDIA's run-time compiler from its wheel, which needs no GPU; None where it is not there."""
    site = Path(sysconfig.get_path("purelib"))
    found = sorted(site.glob("nvidia/*/lib/libnvrtc.so.*"))
    return ctypes.CDLL(str(found[0])) if found else None


def ptx(text, *flags):
    """PTX of a CUDA program, or what the compiler says against it."""
    library = compiler()
    if library is None:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"robot.cu", 0, None, None)
    options = (ctypes.c_char_p * (len(flags) + 1))(
        b"--gpu-architecture=compute_80", *(flag.encode() for flag in flags)
    )
    code = library.nvrtcCompileProgram(program, len(options), options)
    asked = ("GetProgramLog", "GetProgramLogSize") if code else ("GetPTX", "GetPTXSize")
    getattr(library, f"nvrtc{asked[1]}")(program, ctypes.byref(size))
    room = ctypes.create_string_buffer(size.value)
    getattr(library, f"nvrtc{asked[0]}")(program, room)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return code, room.value.decode()


@pytest.mark.parametrize(("format", "letters"), [("float64", "f64"), ("float32", "f32")])
def test_the_run_time_compiler_fuses_and_flushes_nothing(format, letters, tmp_path):
    kernel = kkt.compile(kkt.chain(3), orderings.get("crbm"), format, solver="cholesky")
    text = kernel.export_cuda(tmp_path / "robot.cu", "robot").read_text()
    for flags in ((), ("--fmad=true", "--extra-device-vectorization")):
        code, made = ptx(text, *flags)
        assert code == 0, made
        assert ".visible .entry robot(" in made
        for name in ("add", "mul", "div", "sqrt"):
            assert f"{name}.rn.{letters}" in made
        assert "fma" not in made and ".ftz" not in made and ".approx" not in made
    code, made = ptx(text, "--use_fast_math")
    assert code != 0 and "changes results" in made, made[:300]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_robot_compiles_to_ptx(name, tmp_path):
    with warnings.catch_warnings():  # of the robots' own files
        warnings.simplefilter("ignore")
        kernel = kkt.compile(kkt.load(f"robot:{name}"), orderings.get("abm"), "float32")
    text = kernel.export_cuda(tmp_path / "robot.cu", "robot").read_text()
    code, made = ptx(text)
    assert code == 0, made[:1000]
    assert "fma" not in made and ".ftz" not in made
