# Targets install what they need themselves: a venv for Python packages, apt for the few system packages.
.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
FLEXKIT := $(VENV)/bin/flexkit

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

setup: ## install system packages (apt) and the venv, if they are not there
	@./tools/setup

scripts: setup ## stamp scripts/lib into the scripts
	@$(FLEXKIT) stamp

release: setup ## build the reference agent: build/release/*.tar.gz, checksums.txt
	@$(FLEXKIT) release

demo: setup ## bootstrap, show and uninstall the agent on a throwaway clone of this machine
	@$(FLEXKIT) demo

lint: setup ## ruff, mypy strict, shellcheck, shfmt, stamps
	@./tools/lint

unit: setup ## the unit tests, each file in a sandbox
	@$(FLEXKIT) test tests/unit

test-install: setup ## the tests of the scripts, in sandboxes, as root
	@$(FLEXKIT) test tests/scripts

test-hosts: setup ## the tests on throwaway hosts
	@$(FLEXKIT) test tests/hosts

test-faults: setup ## the scripts killed at evenly spread system calls
	@$(FLEXKIT) test tests/faults

test-exhaustive: setup ## the scripts through every case of a kind, in sandboxes
	@$(FLEXKIT) test tests/exhaustive

test: setup ## lint, unit, test-install, test-exhaustive, test-faults, test-hosts
	@./tools/lint
	@$(FLEXKIT) test

bench: setup ## measurements, side by side in one run
	@$(FLEXKIT) bench

mutants: setup ## check that test-install catches the listed one-line faults
	@$(FLEXKIT) mutants

.PHONY: help setup scripts release demo lint unit test-install test-hosts test-faults test-exhaustive test bench mutants
