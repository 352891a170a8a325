"""Modules of Python that a build makes: what they launch, refuse, and tell type checkers."""

from __future__ import annotations

import importlib.util
import inspect
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from examples.launches import EXAMPLES, LAUNCHES
from host.support import ROOT
from host.test_conditions import CASES, GOOD, REFUSED
from host.test_conditions import KERNEL as CONDITIONS
from prismc.built import KernelFault, RunError
from prismc.cli.main import run
from support.numbers import random_for

ODD = """\
# Adds up.
#
# Slowly: "\\""\\".
@requires(grid[1], block[1], thread[32])
@launch(threads = 32)
@assume(stream % 4 == 0)
kernel odd(stream: i32, lambda: f32, v: vec(f32, 2), y: ptr(f32)):
    partition y as block_y @ block[1]:
        group block[1]:
            shared s: f32[32]
            t: int @ thread[1] = id()
            partition s as c @ thread[1] at t:
                c[0] = f32(stream)
            partition block_y as mine @ thread[1] at t:
                mine[0] = s[31 - t] + lambda + v.y

@requires(grid[1], block[1], thread[32])
kernel pass_():
    pass
"""


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def built(source: Path, folder: Path, *options: str) -> ModuleType:
    assert run(["build", str(source), "-o", f"{folder}/", "--emit", "python", *options]) == 0
    return imported(folder / f"{source.stem}.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("odd")
    (place / "odd.prism").write_text(ODD)
    return place


@pytest.fixture(scope="module")
def odd(folder: Path) -> ModuleType:
    return built(folder / "odd.prism", folder, "--target", "sm_80", "--target", "sm_90a")


@pytest.mark.parametrize("name", ["saxpy", "histogram", "tf32_matmul", "bf16_matmul"])
def test_examples_compute_what_numpy_does(tmp_path: Path, name: str) -> None:
    sizes = LAUNCHES[name]
    launch = sizes.make(random_for(name), *sizes.chosen[-1])
    module = built(EXAMPLES / f"{name}.prism", tmp_path)
    (kernel,) = (getattr(module, each) for each in module.__all__)
    given = {
        key: value.astype(np.float32) if getattr(value, "dtype", "") == "bfloat16" else value
        for key, value in launch.arguments.items()
    }
    kernel(**given, grid=launch.blocks)
    assert launch.wrong(given[launch.output].astype(np.float64)) == ""


def test_a_kernel_is_a_function_that_tells_what_it_is(odd: ModuleType) -> None:
    y = np.zeros(32, np.float32)
    odd.odd(4, 1.5, (0, 0.25), y, grid=1)
    assert set(y) == {5.75}
    odd.odd(stream_=8, lambda_=1.5, v=[0, 0.25], y=y, grid=(1,), schedules=2)
    assert set(y) == {9.75}
    odd.pass_(grid=2)
    assert odd.__all__ == ("odd", "pass_")
    facts = ("threads", "shared_bytes", "cluster", "cooperative", "targets")
    assert [getattr(odd.odd, fact) for fact in facts] == [32, 128, 1, False, ("sm_80", "sm_90a")]
    assert [*inspect.signature(odd.odd).parameters][:5] == ["stream_", "lambda_", "v", "y", "grid"]
    assert odd.odd.__doc__.split("\n\n")[1:3] == ["Adds up.", 'Slowly: "\\""\\".']
    assert repr(odd.odd).startswith("<Prism kernel odd(stream_: i32, lambda_: f32, v: vec(f32")


Y = np.zeros(32, np.float32)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda k: k(4, 1.5, (0, 1), Y), RunError, "how many blocks there are: odd"),
        (lambda k: k(4, 1.5, (0, 1), Y, grid=0), RunError, "a grid of 0 blocks"),
        (lambda k: k(4, 1.5, (0, 1), grid=1), RunError, "no value for `y`"),
        (lambda k: k(4, 1.5, (0, 1), Y, grid=1, schedules=0), RunError, "from 1 on, not 0"),
        (lambda k: k(4, 1.5, (0, 1), Y, grid=1, time_limit="1"), RunError, "seconds, not '1'"),
        (lambda k: k(4, 1.5, (0, 1), Y, z=1, grid=1), RunError, "no parameter `z`"),
        (lambda k: k(1 << 31, 1.5, (0, 1), Y, grid=1), RunError, "`stream_`: 2147483648 is no i32"),
        (lambda k: k(5, 1.5, (0, 1), Y, grid=1), RunError, "assumes `stream % 4 == 0`"),
        (lambda k: k(4, "x", (0, 1), Y, grid=1), RunError, "`lambda_` is one f32, not 'x'"),
        (lambda k: k(4, 1.5, 7, Y, grid=1), RunError, "`v` is a sequence of 2 f32, not 7"),
        (lambda k: k(4, 1.5, (0, 1), Y.astype(int), grid=1), RunError, "`y` is an array of f32"),
        (lambda k: k(4, 1.5, (0, 1), Y[:30], grid=1), KernelFault, r"array: y \[30\]"),
        (pickle.dumps, TypeError, "cannot be pickled or copied: import its module"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(
    odd: ModuleType, call: Callable[[Any], object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        call(odd.odd)


def test_assumptions_are_those_of_the_program(tmp_path: Path) -> None:
    """The cases of the launch functions in C, whose arguments are read as Python."""
    (tmp_path / "k.prism").write_text(CONDITIONS)
    kernel = built(tmp_path / "k.prism", tmp_path).k._kernel
    for name, changes in CASES.items():
        values = {
            key: {"true": True, "false": False}[text] if key == "flag" else eval(text.rstrip("uf"))
            for key, text in (GOOD | changes).items()
        }
        given = [values[parameter.name] for parameter in kernel.parameters]
        broken = [each.text for each in kernel.assumptions if not each.holds(*given)]
        assert broken == ([REFUSED[name]] if name in REFUSED else []), name


def test_a_module_of_another_format_is_refused(folder: Path, odd: ModuleType) -> None:
    text = (folder / "odd.py").read_text().replace("format=1", "format=0")
    (folder / "old.py").write_text(text)
    with pytest.raises(ImportError, match=r"`odd` was made by prismc .*: build it anew"):
        imported(folder / "old.py")


def test_nothing_is_compiled_at_run_time(folder: Path, odd: ModuleType) -> None:
    """Nor is the compiler imported: only what runs PTX."""
    code = (
        "import sys, numpy, odd\n"
        "y = numpy.zeros(32, numpy.float32)\n"
        "odd.odd(4, 0.0, (0, 1), y, grid=1)\n"
        "parts = {name.split('.')[1] for name in sys.modules if name.startswith('prismc.')}\n"
        "print(y[0], parts & {'checker', 'frontend', 'cli'})\n"
        "print('prismc.driver.pipeline' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{folder}", "PRISMC_NVRTC": "/none"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("5.0 set()\nFalse\n", "")


# ------------------------------------------------------------------ for type checkers

USE = """\
import numpy as np
import numpy.typing as npt
from odd import odd

def use(y: npt.NDArray[np.float32], z: npt.NDArray[np.float64], tensor: "Tensor") -> int:
    odd(4, 1.5, (1, 2), y, grid=1)
    odd(np.int32(4), np.float32(1.5), [1, 2.0], tensor, grid=(1,), stream=3, device="gpu")
    odd(stream_=4, lambda_=2, v=(1, 2), y=y, grid=1, schedules=4, seed=1, time_limit=2.5)
    odd(4, 1.5, (1, 2), z, grid=1)  # arg-type
    odd(4.0, 1.5, (1, 2), y, grid=1)  # arg-type
    odd(4, 1.5, (1, 2), y)  # call-arg
    odd(4, 1.5, y, (1, 2), grid=1)  # arg-type
    odd(4, 1.5, (1, 2), y, grid=1, device="tpu")  # arg-type
    odd.blocks  # attr-defined
    return odd.threads

class Tensor:
    __cuda_array_interface__: dict[str, object]
"""


def test_stubs_let_type_checkers_find_what_is_wrong(
    folder: Path, odd: ModuleType, tmp_path: Path
) -> None:
    (folder / "use.py").write_text(USE)
    options = ["--strict", "--follow-imports=silent", "--config-file="]
    command = [sys.executable, "-m", "mypy", *options, "use.py"]
    environment = os.environ | {
        "MYPYPATH": str(ROOT / "src"), "MYPY_CACHE_DIR": str(tmp_path), "PYTHONPATH": ""
    }  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    found = {
        (int(line.split(":")[1]), line.rpartition("[")[2].rstrip("]"))
        for line in done.stdout.splitlines()
        if ": error: " in line
    }
    wanted = {
        (number, line.rpartition("# ")[2])
        for number, line in enumerate(USE.splitlines(), 1)
        if "  # " in line
    }
    assert found == wanted, done.stdout + done.stderr


# ------------------------------------------------------------------ files


def test_where_modules_go(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = str(folder / "odd.prism")
    assert run(["build", source, "-o", f"{tmp_path}/deep/kernels.py"]) == 0
    assert sorted(each.name for each in (tmp_path / "deep").iterdir()) == [
        "kernels.py",
        "kernels.pyi",
    ]
    assert run(["build", source, "-o", "-", "--emit", "python"]) == 0
    said = capfd.readouterr().out
    assert said == (tmp_path / "deep" / "kernels.py").read_text()
    assert run(["build", source, "-o", f"{tmp_path}/alone.pyi"]) == 0
    assert not (tmp_path / "alone.py").exists()
    other = tmp_path / "2-d.import.prism"
    other.write_text(ODD)
    (tmp_path / "class.prism").write_text(ODD)
    files = [str(other), str(tmp_path / "class.prism")]
    assert run(["build", *files, "-o", f"{tmp_path}/", "--emit", "python", "-MD"]) == 0
    assert imported(tmp_path / "_2_d_import.py").odd.threads == 32
    assert imported(tmp_path / "class_.py").odd.threads == 32
    rule = (tmp_path / "class_.d").read_text()
    assert rule.startswith(
        f"{tmp_path}/class_.py {tmp_path}/class_.pyi: \\\n  {tmp_path}/class.prism"
    )


def test_a_module_by_its_author_is_not_replaced(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = str(folder / "odd.prism")
    out = tmp_path / "odd.py"
    out.write_text("import prismc\n")
    assert run(["build", source, "-o", f"{tmp_path}/", "--emit", "python"]) == 2
    says = "odd.py` cannot be written: prismc did not make the file that is there"
    assert says in capfd.readouterr().err
    assert out.read_text() == "import prismc\n"
    assert not (tmp_path / "odd.pyi").exists()


def test_the_same_bytes_again_and_only_when_changed(folder: Path, tmp_path: Path) -> None:
    command = ["build", str(folder / "odd.prism"), "-o", f"{tmp_path}/", "--emit", "python"]
    assert run(command) == 0
    made = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    assert len(made) == 2
    assert run(command) == 0
    again = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    assert again == made
    assert run([*command, "--no-cache", "--always"]) == 0
    assert {path: path.read_bytes() for path in made} == {p: made[p][0] for p in made}


def test_an_assumption_that_python_cannot_verify_is_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = ODD.replace("stream % 4 == 0", "popc(stream) == 1")
    (tmp_path / "odd.prism").write_text(text)
    module = built(tmp_path / "odd.prism", tmp_path)
    said = capfd.readouterr().err
    assert said.count("warning[P0777]") == 1
    assert "the launch function does not verify `popc(stream) == 1`" in said
    module.odd(5, 0, (0, 0), Y.copy(), grid=1)
