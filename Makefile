# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Everything happens in a private virtual environment, .venv. `make help` lists the targets.

PYTHON ?= python3
PYTEST_FLAGS ?=
DRIVER ?= software
BENCH_FLAGS ?=
INTEL_FLAGS ?=

VENV := .venv
VENV_PYTHON := $(VENV)/bin/python
RUNTIME := $(VENV)/.runtime-packages
DEVELOPMENT := $(VENV)/.development-packages
DOCUMENTATION := $(VENV)/.documentation-packages
BUILT := $(VENV)/.built
KERNELS := .cache/kernels

# What the compiled parts are made from.
SOURCES := pyproject.toml setup.py ze_build.py ur_library_build.py \
	$(wildcard urasync_l0/ze/declarations/*.h urasync_l0/ze/include/*.h) \
	$(wildcard urasync_l0/dlpack/*.c urasync_l0/pool/compiled/*.[ch]) \
	$(wildcard urasync_l0/software_driver/include/*.h urasync_l0/software_driver/src/*.[ch]) \
	$(wildcard urasync_l0/ur_library/*.txt urasync_l0/ur_library/*/*.[ch])
C_FILES := $(wildcard urasync_l0/ze/include/*.h urasync_l0/pool/compiled/*.[ch] urasync_l0/dlpack/*.c \
	urasync_l0/software_driver/*/*.[ch] \
	urasync_l0/ur_library/*/*.[ch] tests/driver/*.[ch] tests/driver/*/*.[ch] tests/ur_library/*/*.[ch] \
	benchmarks/ur_client/*.[ch] tests/tools/*/*.[ch] tests/intel/client/*.[ch] tests/intel/client/*/*.[ch])
PYTHON_PLACES := $(wildcard urasync_l0 benchmarks tools tests examples docs/conf.py packaging/*.py *_build.py setup.py)
# The tool's code has another name when installed; type checkers need to see it under that.
TYPED_PLACES := $(wildcard urasync_l0 packaging/typing/urasync_l0/tools benchmarks tests examples docs/conf.py \
	packaging/*.py *_build.py setup.py)

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo demo-kernels build test lint docs test-driver sanitize test-kernels test-new-headers test-wheel test-intel bench-intel test-free-threaded test-ur-loader test-sycl bench soak fuzz clean system-packages

help:
	@echo 'make demo              build, then replay the recorded traces on the software driver'
	@echo 'make demo-kernels      the same, with an OpenCL runtime of PyPI to look at bytes with kernels (a large download)'
	@echo 'make build             build the package in place'
	@echo 'make test              all tests in Python, in parallel; PYTEST_FLAGS adds options'
	@echo 'make test-driver       the C tests of the software driver'
	@echo 'make sanitize          the same under sanitizers, and the C parts of the pool core and the UR libraries'
	@echo 'make test-kernels      what needs an OpenCL runtime, with that of PyPI (a large download)'
	@echo 'make test-new-headers  build and test with the newest Level Zero headers of Debian'
	@echo 'make test-wheel        the source distribution, the wheel made from it, and tests of what that installs'
	@echo 'make test-intel        tests on Intel'"'"'s own stack without a GPU, in a folder with Debian sid'
	@echo 'make test-free-threaded  unit and conformance tests on a free-threaded CPython, if there is one'
	@echo 'make test-ur-loader    a C client of the UR adapter libraries under the libur_loader of PyPI'
	@echo 'make test-sycl         SYCL programs, dpctl and dpnp of PyPI, on the UR adapter libraries (large downloads)'
	@echo 'make lint              ruff, mypy and clang-format'
	@echo 'make docs              guide and reference as web pages, build/docs; every warning is an error'
	@echo 'make fuzz              coverage-guided fuzzing of parsers in C and of the UR entries; needs clang (CLANG=clang-14)'
	@echo 'make soak              random operations of many threads under the checker; SOAK_SECONDS=3600'
	@echo 'make bench             times of calls, traces and more: a table, and build/bench.json; DRIVER=system is a GPU'
	@echo 'make bench-intel       the same from C and Python, with Intel'"'"'s adapters beside ours: build/bench-intel.json'
	@echo 'make clean             remove everything that was built or installed'
	@echo 'PYTHON=python3.12 names the Python for the virtual environment (3.11 or newer).'

demo: $(BUILT)
	$(VENV_PYTHON) -m benchmarks.demo

# With the OpenCL runtime that `make test-kernels` has fetched, if it has.
demo: export URASYNC_L0_OPENCL ?= $(wildcard $(abspath $(KERNELS)/lib/libintelocl.so))

demo-kernels: $(KERNELS)/lib/libintelocl.so
	$(MAKE) demo

build: $(BUILT)

test: $(BUILT) $(DEVELOPMENT)
	URASYNC_L0_POOL=python $(VENV_PYTHON) -m pytest -q -n auto $(PYTEST_FLAGS) tests/unit/pool
	$(VENV_PYTHON) -m pytest -n auto $(PYTEST_FLAGS)

lint: $(BUILT) $(DEVELOPMENT)
	$(VENV)/bin/ruff check $(PYTHON_PLACES)
	$(VENV)/bin/ruff format --check $(PYTHON_PLACES)
	$(VENV)/bin/mypy $(TYPED_PLACES)
	$(VENV)/bin/clang-format --dry-run -Werror $(C_FILES)

docs: $(BUILT) $(DOCUMENTATION)
	URASYNC_L0_POOL=python $(VENV_PYTHON) -m sphinx -q -W --keep-going -b html -c docs . build/docs
	@echo 'build/docs/docs/index.html is the first page'

test-driver: $(BUILT)
	$(MAKE) -C tests/driver test PYTHON=$(abspath $(VENV_PYTHON))

sanitize: $(BUILT) $(DEVELOPMENT)
	$(MAKE) -C tests/driver sanitize PYTHON=$(abspath $(VENV_PYTHON))
	packaging/sanitize-pool.sh $(abspath $(VENV_PYTHON))
	packaging/sanitize-ur-library.sh $(abspath $(VENV_PYTHON))

test-new-headers: $(BUILT) $(DEVELOPMENT)
	packaging/newer-headers.sh $(abspath $(VENV_PYTHON))

# For another Python: make test-wheel PYTHON=python3.13
test-wheel: | system-packages
	packaging/wheel.sh $(PYTHON) $(PYTEST_FLAGS)

test-intel: $(BUILT)
	packaging/intel-stack.sh $(abspath $(VENV_PYTHON)) $(INTEL_FLAGS)

bench-intel: $(BUILT)
	packaging/intel-stack.sh $(abspath $(VENV_PYTHON)) bench

test-free-threaded:
	packaging/free-threaded.sh $(PYTEST_FLAGS)

# Intel's loader of UR adapters, in a folder of its own: nothing of ours depends on it.
UR_LOADER := .cache/ur-loader

$(UR_LOADER)/lib/libur_loader.so: | $(VENV_PYTHON)
	$(PYTHON) -m venv $(UR_LOADER)
	$(UR_LOADER)/bin/python -m pip install --quiet intel-cmplr-lib-ur intel-cmplr-lib-rt

# Kernels as well, with the OpenCL runtime that `make test-kernels` has fetched, if it has.
test-ur-loader: export URASYNC_L0_OPENCL ?= $(wildcard $(abspath $(KERNELS)/lib/libintelocl.so))
test-ur-loader: $(BUILT) $(DEVELOPMENT) $(UR_LOADER)/lib/libur_loader.so
	URASYNC_L0_UR_LOADER=$(abspath $(UR_LOADER)/lib/libur_loader.so) \
		$(VENV_PYTHON) -m pytest -n auto $(PYTEST_FLAGS) tests/ur_library

# The OpenCL runtime that compiles programs for the software driver.
$(KERNELS)/lib/libintelocl.so: | $(VENV_PYTHON)
	$(PYTHON) -m venv $(KERNELS)
	$(KERNELS)/bin/python -m pip install --quiet intel-opencl-rt intel-cmplr-lib-rt

test-kernels: export URASYNC_L0_OPENCL = $(abspath $(KERNELS)/lib/libintelocl.so)
test-kernels: $(BUILT) $(DEVELOPMENT) $(KERNELS)/lib/libintelocl.so
	$(MAKE) -C tests/driver test FILTER=spirv PYTHON=$(abspath $(VENV_PYTHON))
	$(VENV_PYTHON) -m pytest -n auto $(PYTEST_FLAGS) tests/conformance/test_programs.py \
		tests/conformance/entry_points/test_program.py tests/conformance/test_verification_kernel.py \
		tests/conformance/test_devices.py tests/tools/test_demo.py tests/tools/test_kernel_launches.py \
		tests/examples tests/ur_library/test_client.py

SYCL := .cache/sycl

$(SYCL)/lib/libsycl.so: | $(VENV_PYTHON)
	$(PYTHON) -m venv $(SYCL)
	$(SYCL)/bin/python -m pip install --quiet dpctl dpnp 'cffi>=1.17' 'rich>=13'

test-sycl: $(BUILT) $(DEVELOPMENT) $(SYCL)/lib/libsycl.so
	URASYNC_L0_SYCL_PYTHON=$(abspath $(SYCL)/bin/python) \
		$(VENV_PYTHON) -m pytest $(PYTEST_FLAGS) tests/ur_library/test_sycl.py

bench: $(BUILT)
	mkdir -p build
	$(VENV_PYTHON) -m benchmarks.speed --driver $(DRIVER) --output build/bench.json $(BENCH_FLAGS)

SOAK_SECONDS ?= 60
SOAK_FLAGS ?=

soak: $(BUILT) $(DEVELOPMENT)
	$(VENV_PYTHON) -m tests.soak --seconds $(SOAK_SECONDS) $(SOAK_FLAGS)

# libFuzzer comes with clang; Debian's has its version in the name.
CLANG ?= clang-14
FUZZ_SECONDS ?= 30

fuzz: $(BUILT)
	$(MAKE) -C tests/driver fuzz PYTHON=$(abspath $(VENV_PYTHON)) CLANG=$(CLANG) SECONDS=$(FUZZ_SECONDS)
	$(VENV_PYTHON) -m tests.ur_library.fuzz --compiler '$(CLANG)' --seconds $(FUZZ_SECONDS)

clean:
	rm -rf $(VENV) .cache build dist *.egg-info
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f urasync_l0/ze/_level_zero*.so urasync_l0/pool/_structure*.so urasync_l0/dlpack/_capsule*.so
	rm -f urasync_l0/software_driver/*.so
	rm -f urasync_l0/ur_library/*.so
	rm -f urasync_l0/software_driver/_controls_ffi.py
	find $(PYTHON_PLACES) -type d -name __pycache__ -prune -exec rm -rf {} +
	if [ -f tests/driver/Makefile ]; then $(MAKE) -C tests/driver clean; fi

system-packages:
	@packaging/system-packages.sh $(PYTHON)

$(VENV_PYTHON): | system-packages
	$(PYTHON) -m venv $(VENV)

# The package itself is built without isolation, so what builds it is installed first.
$(RUNTIME): pyproject.toml | $(VENV_PYTHON)
	$(VENV_PYTHON) -m pip install --quiet 'setuptools>=77' wheel 'cffi>=1.17' 'rich>=13'
	@touch $@

# Setuptools warns on every editable installation that it is one.
INSTALL := PYTHONWARNINGS=ignore $(VENV_PYTHON) -m pip install --quiet --no-build-isolation

$(BUILT): $(SOURCES) $(RUNTIME) | system-packages
	$(INSTALL) --no-deps --editable .
	@touch $@

$(DEVELOPMENT): pyproject.toml | $(BUILT)
	$(INSTALL) --editable '.[dev]'
	@touch $@

$(DOCUMENTATION): pyproject.toml | $(BUILT)
	$(INSTALL) --editable '.[docs]'
	@touch $@
