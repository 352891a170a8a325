"""Finding compilers on made-up machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from prismc.backend.toolchain.compilation import ToolchainFailure
from prismc.backend.toolchain.find import find_nvcc, find_nvrtc


def file(path: Path, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    path.chmod(mode)
    return path


def test_the_wheel_comes_before_an_installed_toolkit(tmp_path: Path) -> None:
    wheel = file(tmp_path / "site" / "nvidia" / "cu13" / "lib" / "libnvrtc.so.13")
    file(tmp_path / "site" / "nvidia" / "cu13" / "lib" / "libnvrtc-builtins.so.13.5")
    file(tmp_path / "cuda" / "lib64" / "libnvrtc.so.13")
    environment = {"CUDA_HOME": str(tmp_path / "cuda")}
    assert find_nvrtc(environment, [str(tmp_path / "site")]) == wheel


def test_the_newest_wheel_wins(tmp_path: Path) -> None:
    file(tmp_path / "nvidia" / "cu9" / "lib" / "libnvrtc.so.9")
    newest = file(tmp_path / "nvidia" / "cu13" / "lib" / "libnvrtc.so.13")
    assert find_nvrtc({}, [str(tmp_path)]) == newest


def test_cuda_home_and_the_kit_around_nvcc_are_searched(tmp_path: Path) -> None:
    library = file(tmp_path / "cuda" / "lib64" / "libnvrtc.so.13.0.88")
    assert find_nvrtc({"CUDA_HOME": str(tmp_path / "cuda")}, []) == library
    file(tmp_path / "cuda" / "bin" / "nvcc", 0o755)
    assert find_nvrtc({"PATH": str(tmp_path / "cuda" / "bin")}, []) == library


def test_prismc_nvrtc_decides_alone(tmp_path: Path) -> None:
    file(tmp_path / "nvidia" / "cu13" / "lib" / "libnvrtc.so.13")
    chosen = file(tmp_path / "mine" / "libnvrtc.so.12")
    assert find_nvrtc({"PRISMC_NVRTC": str(chosen)}, [str(tmp_path)]) == chosen
    assert find_nvrtc({"PRISMC_NVRTC": str(chosen.parent)}, [str(tmp_path)]) == chosen
    with pytest.raises(ToolchainFailure, match="PRISMC_NVRTC names"):
        find_nvrtc({"PRISMC_NVRTC": str(tmp_path / "absent")}, [str(tmp_path)])


def test_nothing_found_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ToolchainFailure) as caught:
        find_nvrtc({"PATH": str(tmp_path)}, [str(tmp_path)])
    assert "pip install nvidia-cuda-nvrtc" in caught.value.remedy


def test_nvcc_order(tmp_path: Path) -> None:
    wheel = file(tmp_path / "site" / "nvidia" / "cu13" / "bin" / "nvcc", 0o755)
    assert find_nvcc({}, [str(tmp_path / "site")]) == wheel
    on_path = file(tmp_path / "bin" / "nvcc", 0o755)
    environment = {"PATH": str(tmp_path / "bin")}
    assert find_nvcc(environment, [str(tmp_path / "site")]) == on_path
    home = file(tmp_path / "home" / "bin" / "nvcc", 0o755)
    environment["CUDA_HOME"] = str(tmp_path / "home")
    assert find_nvcc(environment, [str(tmp_path / "site")]) == home
    environment["PRISMC_NVCC"] = str(tmp_path / "absent")
    with pytest.raises(ToolchainFailure, match="PRISMC_NVCC"):
        find_nvcc(environment, [])


def test_a_file_that_does_not_run_is_no_nvcc(tmp_path: Path) -> None:
    file(tmp_path / "bin" / "nvcc", 0o644)
    with pytest.raises(ToolchainFailure, match="no nvcc"):
        find_nvcc({"PATH": str(tmp_path / "bin")}, [])
