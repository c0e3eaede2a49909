# What can be done here: make help. Each target is a script; variables given to make (PORT=8081) reach it through the environment.

.PHONY: help up dev test test-unit test-long test-cluster check docs build images sbom pictures console-pictures bench soak doctor clean uninstall
.DEFAULT_GOAL := help

help: ## list the targets
	@exec scripts/help.sh $(firstword $(MAKEFILE_LIST))

up: ## start all services in one process in this terminal (HOST= PORT= TELEMETRY_PORT= OPERATOR_PORT= WHOIS_PORT= SOURCES=file.yaml RESOLVERS= NETFACTS_HOME=)
	@exec scripts/run.sh services/standalone/src/main.ts

dev: ## start each service as its own process for development, with NATS, a MongoDB-compatible server and unbound (DEV_PORT= RESOLVERS=)
	@exec scripts/run.sh scripts/dev.ts

test: ## run every test that a change must pass (TESTS=path for some)
	@exec scripts/run.sh scripts/test.ts $(TESTS)

test-unit: ## run the tests that start no process, promise no deadlines and have no large inputs (TESTS=path for some)
	@exec scripts/run.sh scripts/test.ts --unit $(TESTS)

test-long: ## run every test with all inputs from new seeds, then the soak (TESTS=path for some; NETFACTS_TEST_SEED= repeats a run, MINUTES= of the soak)
	@exec scripts/run.sh scripts/test-long.ts $(TESTS)

test-cluster: ## install the charts in a Kubernetes cluster and break what runs there (TESTS=path for some; KUBECONFIG= for a cluster of yours)
	@exec scripts/run.sh scripts/test.ts --cluster $(TESTS)

check: ## format, lint, types, import rules, citations, generated files, installed versions
	@exec scripts/check.sh

build: ## compile every package to its dist
	@exec scripts/run.sh scripts/build.ts

images: ## build the container image of all services into dist/images, with its list of parts (IMAGE=name:tag BASE= BUILD_BASE= BUILDAH=)
	@exec scripts/run.sh scripts/images.ts

sbom: ## list the parts of the source tree (SBOM, CycloneDX) in dist/netfacts.cdx.json, with what is only for development marked
	@exec scripts/run.sh scripts/sbom.ts

pictures: ## draw each dashboard into docs/operations/dashboards, from a run of the services under load (MINUTES=4)
	@exec scripts/run.sh scripts/pictures.ts

console-pictures: ## draw the pages of the console into docs/guides/console
	@exec scripts/run.sh scripts/console-pictures.ts

docs: ## build the documentation site into docs/dist
	@exec scripts/run.sh scripts/build-docs.ts --where

bench: ## run the benchmarks one after another (BENCH=name for one)
	@exec scripts/run.sh scripts/bench.ts $(BENCH)

soak: ## run varied load and abuse (ABUSE=0: none) for MINUTES=60 at up to RATE=150 steps a second: memory, files, sockets and disk must stay flat
	@exec scripts/run.sh scripts/soak.ts

doctor: ## list the tools that the project uses, where they are, and how to get missing ones
	@exec scripts/doctor.sh

clean: ## remove build output
	@exec scripts/clean.sh

uninstall: ## remove state, packages and downloads, after a confirmation (YES=1 skips it)
	@exec scripts/uninstall.sh
