# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Thin on purpose: each target is one program, which can be run by hand.

## Knobs, as in `make bench MATRIX=full`:
##   KSRC=/path/to/linux  use this tree of Linux 7.3.y (it is copied)
##   MATRIX=full          all cells of the benchmark, not the quick ones
##   QEMU=/path/to/qemu   use this QEMU for the two VMs
##   RXE_CACHE=/path      where built things are kept (default: ~/.cache/rxe-lab)
##   TOPIC=02-name        export: put new patches into patches/02-name
##   ARGS='...'           more arguments for verify, bench, test and shell
KSRC      ?=
MATRIX    ?=
QEMU      ?=
RXE_CACHE ?=
TOPIC     ?=
ARGS      ?=
PYTHON    ?= /usr/bin/python3
export KSRC MATRIX QEMU RXE_CACHE TOPIC
export PYTHONDONTWRITEBYTECODE := 1

RUN := $(PYTHON) -m

## Targets:
##   help        this text
help:
	@sed -n 's/^## \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

##   deps        install the Debian packages that are missing (root), or name them
deps:
	@$(RUN) scripts.deps

##   bench       compare the base's rdma_rxe with the series': build/report
bench: deps
	@$(RUN) bench $(ARGS)

##   test        behaviour tests of the series in VMs
test: deps
	@$(RUN) qemu.test $(ARGS)

##   test-debug  the same on a kernel with KASAN, lockdep and kmemleak
test-debug: deps
	@$(RUN) qemu.test --debug $(ARGS)

##   shell       two VMs with a prompt in each
shell: deps
	@$(RUN) qemu.shell $(ARGS)

##   tree        build/linux: the base and the series as a git repository
tree: deps
	@$(RUN) scripts.tree

##   export      write the commits of build/linux back to patches/
export:
	@$(RUN) scripts.export

##   verify      build, check and try every patch in turn
verify: deps
	@$(RUN) scripts.verify $(ARGS)

##   check       unit tests and static checks of the project's own programs
check:
	@$(RUN) scripts.check

##   clean       remove what was built here, but not build/linux
##   distclean   remove build/ and the cache that all clones share
clean distclean:
	@$(RUN) scripts.clean $@

.PHONY: help deps tree export verify bench test test-debug shell check
.PHONY: clean distclean
