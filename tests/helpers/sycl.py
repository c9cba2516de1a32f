# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for SYCL in Python, dpctl and dpnp, that look at their results.

They are given to a Python that has these packages, on the software driver, over any adapter of
Unified Runtime. Each prints ``passed`` at its end.
"""

from dataclasses import dataclass

USM = """
import dpctl
import dpctl.memory

device, = dpctl.get_devices()
assert device.name == "urasync software device 0", device.name
assert device.backend == dpctl.backend_type.level_zero
print(device.sycl_platform.name)
queue = dpctl.SyclQueue(device)
memory = dpctl.memory
content = bytearray(range(256)) * 4
on_device = memory.MemoryUSMDevice(1024, queue=queue)
others = [memory.MemoryUSMShared(1024, queue=queue), memory.MemoryUSMHost(1024, queue=queue)]
kinds = [each.get_usm_type() for each in (on_device, *others)]
assert kinds == ["device", "shared", "host"], kinds
on_device.copy_from_host(content)
for each in others:
    each.copy_from_device(on_device)
    assert bytes(each.copy_to_host()) == content
queue.wait()
print("passed")
"""
"""Memory of each kind, copied; prints the platform's name first."""

KERNELS = """
import ctypes
import sys

import dpctl
import dpctl.memory
import dpctl.program

device, = dpctl.get_devices()
queue = dpctl.SyclQueue(device)
program = dpctl.program.create_program_from_spirv(queue, bytes.fromhex(sys.argv[1]), "")
assert program.has_sycl_kernel("fill")
fill, add = program.get_sycl_kernel("fill"), program.get_sycl_kernel("add")
memory = dpctl.memory
kinds = [memory.MemoryUSMDevice, memory.MemoryUSMShared, memory.MemoryUSMHost]
for kind in kinds:
    source, target = kind(1024, queue=queue), kind(1024, queue=queue)
    filled = queue.submit(fill, [source, ctypes.c_uint(40)], [256])
    queue.submit(add, [target, source, ctypes.c_uint(2)], [256], None, [filled]).wait()
    assert bytes(target.copy_to_host()) == (42).to_bytes(4, "little") * 256, kind
queue.wait()
print("passed")
"""
"""The kernels of `tests.helpers.spirv.whole_program`, whose bytes are its argument in hexadecimal,
on memory of each kind."""

ARRAYS = """
import dpnp
import numpy

one = dpnp.arange(1000, dtype=dpnp.float32)
two = dpnp.full(1000, 2, dtype=dpnp.float32)
assert one.usm_type == "device"
assert one.sycl_device.name == "urasync software device 0"
expected = numpy.arange(1000, dtype=numpy.float32)
total = one * two + one
assert (dpnp.asnumpy(total) == expected * 3).all()
assert float(total.sum()) == float((expected * 3).sum())
print("passed", flush=True)
"""
"""Array arithmetic and a reduction of dpnp."""

OPERATIONS = """
import sys

import dpnp
import numpy

random = numpy.random.default_rng(7)
line = random.random(1000, dtype=numpy.float32)
wide = random.random((64, 48), dtype=numpy.float32)
long = random.random((48, 32), dtype=numpy.float32)
square = random.random((16, 16))
large = numpy.ones(1 << 20)
operations = {
    f"arithmetic of {kind}": (
        lambda m, x, y: x * y + x - y,
        (random.random(1000) * 100).astype(kind),
        (random.random(1000) * 100 + 1).astype(kind),
    )
    for kind in ("float16", "float32", "float64", "int32", "int64", "uint8", "complex64")
}
operations |= {
    "division": (lambda m, x: x / (x + 1), line),
    "functions": (lambda m, x: m.exp(m.sin(x)) + m.sqrt(x), line),
    "sum": (lambda m, x: m.sum(x), line),
    "sum of many": (lambda m, x: (x * 2).sum(), large),
    "sum of integers": (lambda m, x: m.sum(x), numpy.arange(1000)),
    "mean along an axis": (lambda m, x: m.mean(x, axis=0), wide),
    "deviation": (lambda m, x: m.std(x), line),
    "product": (lambda m, x: m.prod(x[:20] + 0.5), line),
    "largest": (lambda m, x: m.max(x), line),
    "place of the largest": (lambda m, x: m.argmax(x), line),
    "any and all": (lambda m, x: m.stack([m.any(x > 0.5), m.all(x > 2)]), line),
    "running sum": (lambda m, x: m.cumsum(x), line),
    "sort": (lambda m, x: m.sort(x), line),
    "order": (lambda m, x: m.argsort(x), line),
    "choice": (lambda m, x: m.where(x > 0.5, x, -x), line),
    "mask": (lambda m, x: x[x > 0.5], line),
    "places": (lambda m, x, i: x[i], line, numpy.arange(0, 1000, 7)),
    "transposition": (lambda m, x: x.T.copy(), wide),
    "concatenation": (lambda m, x: m.concatenate([x, x]), line),
    "unique": (lambda m, x: m.unique(x), (line * 10).astype(numpy.int32)),
    "histogram": (lambda m, x: m.histogram(x, bins=10)[0], line),
    "dot": (lambda m, x: m.dot(x, x), line),
    "matrix product": (lambda m, x, y: x @ y, wide, long),
    "linear equations": (lambda m, x: m.linalg.solve(x, m.ones(16)), square),
    "inverse": (lambda m, x: m.linalg.inv(x), square),
    "eigenvalues": (lambda m, x: m.linalg.eigvalsh(x + x.T), square),
    "singular values": (lambda m, x: m.linalg.svd(x)[1], square),
    "factors Q and R": (lambda m, x: m.abs(m.linalg.qr(x)[1]), square),
    "Cholesky factors": (lambda m, x: m.linalg.cholesky(x @ x.T + 16 * m.eye(16)), square),
    "Fourier transform": (lambda m, x: m.fft.fft(x), line),
}
for name, (operation, *arrays) in operations.items():
    expected = operation(numpy, *arrays)
    try:
        found = dpnp.asnumpy(operation(dpnp, *map(dpnp.asarray, arrays)))
    except Exception as error:
        print(f"error: {name}: {type(error).__name__}: {error}", flush=True)
        continue
    tolerance = 1e-2 if found.dtype == numpy.float16 else 1e-4
    is_right = found.shape == numpy.shape(expected) and numpy.allclose(
        found, expected, rtol=tolerance, atol=tolerance
    )
    print(f"{'right' if is_right else 'wrong'}: {name}", flush=True)
for kind in ("device", "shared", "host"):
    ones = dpnp.ones(10, usm_type=kind)
    is_right = ones.usm_type == kind and float(ones.sum()) == 10
    print(f"{'right' if is_right else 'wrong'}: {kind} memory", flush=True)
print("passed", flush=True)
"""
"""Operations of dpnp, each compared with NumPy: a line for each, with ``right: ``, ``wrong: `` or
``error: `` before its name."""

IMPOSSIBLE = {
    "Cholesky factors": (
        "oneMKL's kernel passes numbers through local memory with no barrier, as its 32 work-items "
        "run in step on a GPU; on processors they do not"
    ),
    "Fourier transform": "oneMKL asks for the OpenCL driver of a GPU, to compile its kernels with",
}
"""Which of them cannot work on processors, and why."""


@dataclass(frozen=True)
class Judged:
    """What `OPERATIONS` printed: names that were as they must be, and lines that were not."""

    right: tuple[str, ...]
    impossible: tuple[str, ...]
    wrong: tuple[str, ...]


def judge(printed: str) -> Judged:
    """Take what cannot work for right if it was refused, and for wrong if it had a result."""
    right: list[str] = []
    impossible: list[str] = []
    wrong: list[str] = []
    for line in printed.splitlines():
        verdict, _, rest = line.partition(": ")
        name = rest.partition(": ")[0]
        if verdict not in ("right", "wrong", "error"):
            continue  # of a library
        if verdict == ("error" if name in IMPOSSIBLE else "right"):
            (impossible if name in IMPOSSIBLE else right).append(name)
        else:
            wrong.append(line)
    if "passed" not in printed.splitlines():
        wrong.append("it did not come to its end")
    if missing := set(IMPOSSIBLE) - set(impossible):
        wrong.append(f"not refused: {', '.join(sorted(missing))}")
    return Judged(tuple(right), tuple(impossible), tuple(wrong))
