# SPDX-License-Identifier: Apache-2.0
# Every target sets up what it needs in .venv/; it installs again only when setup.py or this file changed.
#   make demo    the library at work on the shipped arm; on a terminal, then, the address of a page that plays it
#   make test    linters, type checks and the whole test suite
#   make lint    ruff, mypy and the licences (reuse) alone
#   make matrix  a smoke suite on every Python of this machine, with the oldest and the newest dependencies
#   make docs    the documentation site in build/site, warnings as errors
#   make bench   the methods timed beside Pinocchio and MuJoCo
#   make build   a wheel in dist/
#   make clean   removes all that the other targets made
#   make test-launch   runs the launch files, the action and the bond; needs a sourced ROS 2 workspace with this package

PYTHON ?= python3
PYTEST_ARGS ?=
MATRIX ?=
ROS_PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
# An editable install remembers its folder, so a copied or moved tree must install again.
HERE := $(shell pwd | cksum | cut -d' ' -f1)
CORE := $(VENV)/core-$(HERE)
TEST := $(VENV)/test-$(HERE)
RECIPE := setup.py Makefile
comma := ,
# The demo takes a sourced ROS 2, else its wheels where there are any.
DEMO_EXTRAS := plot$(comma)view$(if $(ROS_DISTRO),,$(comma)ros-kilted)
DEMO_PATH := $(if $(ROS_DISTRO),env PYTHONPATH='$(PYTHONPATH)')

# Nothing of a sourced ROS 2, of the user's site-packages or of another venv's ROS wheels may leak into ours.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV _ROS_WHEELS_BOOTSTRAP_COMPLETE
export PYTHONNOUSERSITE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo docs test test-launch lint matrix proof bench build clean

demo: $(CORE)
	@mkdir -p build
	$(DEMO_PATH) $(BIN)/opspace demo --plot build/demo.png --force $$(test ! -t 1 || echo --page --port 0)

# Computing shares the cores, compiled and then, on a small robot, as plain Python; what runs ROS nodes or a browser comes
# after it, two files at a time, every graph in a domain of its own. Plain Python is 50 times slower: loops that are closed for seconds, and threads, run compiled.
LAW := $(patsubst %,test/control/test_%.py,attack core friction hierarchy impedance_damping law singular velocity)
UNCOMPILED := test/dynamics test/osim $(LAW) --ignore=test/osim/test_changing_tasks.py \
  -k 'arm7 and not step_response and not out_of_reach'
BROWSER := $(if $(shell command -v chromium),test/view/browser)
test: lint
ifeq ($(strip $(PYTEST_ARGS)),)
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --ignore=test/live --ignore=test/proof --ignore=test/view/browser
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest --numprocesses auto $(UNCOMPILED)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile test/live $(BROWSER)
	@$(if $(BROWSER),:,echo "left out: the viewer in a browser (test/view/browser); it needs Chromium: sudo apt install chromium")
else
	$(BIN)/python -m pytest $(PYTEST_ARGS)
endif

# What takes too long for every change: thousands of random robots, every method, every robot of the wheel; thousands
# of sequences of events before the gates.
proof: $(TEST)
	$(BIN)/python -m pytest --numprocesses auto test/proof $(PYTEST_ARGS)
	OPSPACE_SEQUENCES=10000 $(BIN)/python -m pytest test/control/test_gate_machine.py

test-launch:
	@env -u PYTHONNOUSERSITE PYTHONPATH='$(PYTHONPATH)' $(ROS_PYTHON) -c 'import launch_ros, opspace_ctrl' || \
	  { echo "source a ROS 2 workspace in which this package is built: launch_ros is not on PyPI" >&2; exit 1; }
	env -u PYTHONNOUSERSITE PYTHONPATH='$(PYTHONPATH)' $(ROS_PYTHON) -m pytest $(or $(PYTEST_ARGS),test/live/live_launch.py test/live/live_action.py)

lint: $(TEST)
	$(BIN)/ruff format --check --quiet . || { echo "run ruff format" >&2; exit 1; }
	$(BIN)/ruff check .
	@! git rev-parse --quiet --verify HEAD >/dev/null 2>&1 || $(BIN)/reuse lint --quiet || { echo "run reuse lint" >&2; exit 1; }
	$(BIN)/mypy

# MATRIX chooses lines: make matrix MATRIX="3.12 oldest". What is installed already may come from a sourced ROS 2.
matrix:
	PYTHONPATH='$(PYTHONPATH)' $(PYTHON) test/matrix/matrix.py $(MATRIX)

docs: $(TEST)
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/site
	@echo "open build/site/index.html"

bench: $(TEST)
	$(BIN)/opspace bench

# The wheel brings libopspace for this kind of machine; where it cannot be compiled, a wheel without it.
build: $(CORE)
	rm -rf build dist opspace_ctrl/export/prebuilt
	$(BIN)/python -c 'from opspace_ctrl.export.library import prebuild; prebuild()' || \
	  echo "The wheel is built without libopspace: 'opspace export' will compile it, and need a C compiler." >&2
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) build dist opspace_ctrl/export/prebuilt *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "opspace_ctrl needs Python 3.10 or newer: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || \
	  { echo "no venv module here; on Debian and Ubuntu: sudo apt install python3-venv" >&2; exit 1; }

$(CORE): $(RECIPE) | $(BIN)/python
	@echo "Installing the library into $(VENV)/ (once, about a minute) ..."
	@$(BIN)/python -m pip install -qq --editable '.[$(DEMO_EXTRAS)]' || \
	  { echo "No ROS 2 wheels for this platform: the demo will run without ROS." && \
	    $(BIN)/python -m pip install -qq --editable '.[plot,view]'; }
	@touch $@

$(TEST): $(RECIPE) | $(BIN)/python
	@echo "Installing the library and what its tests need into $(VENV)/ (once, a few minutes) ..."
	@$(BIN)/python -m pip install -qq --editable '.[test,ros-kilted]'
	@touch $@ $(CORE)
