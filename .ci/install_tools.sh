#!/usr/bin/env bash
# Install the programs that some tests need and that no Python package brings: a browser, R's rsdmx, promtool and Helm.
# Without root or apt-get, or if the packages cannot be had, say what is NOT TESTED and go on.
set -uo pipefail

has_rsdmx() { Rscript -e 'library(rsdmx)' >/dev/null 2>&1; }

missing() {
    command -v chromium >/dev/null || command -v google-chrome >/dev/null || echo chromium
    command -v chromedriver >/dev/null || echo chromium-driver
    has_rsdmx || echo r-base-core r-cran-rsdmx
    command -v promtool >/dev/null || echo prometheus
}

read -ra packages <<<"$(missing | tr '\n' ' ')"
if [ ${#packages[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing ${packages[*]} for the tests of pages, of R and of Prometheus' rules ..."
    log=$(mktemp)
    export DEBIAN_FRONTEND=noninteractive
    timeout 300 apt-get update >"$log" 2>&1 </dev/null || tail -5 "$log"
    # Each by itself: Ubuntu has no chromium-driver, and apt-get would install none of them.
    for package in "${packages[@]}"; do
        timeout 900 apt-get install --yes --no-install-recommends "$package" >"$log" 2>&1 </dev/null || tail -5 "$log"
    done
    rm -f "$log"
fi
read -ra packages <<<"$(missing | tr '\n' ' ')"
if [ ${#packages[@]} -gt 0 ]; then
    echo "NOT TESTED: everything that needs ${packages[*]} (Debian packages); their tests are skipped." >&2
fi

# Helm is in no Debian release; with Go it is built from its module, in some minutes.
if ! command -v helm >/dev/null; then
    log=$(mktemp)
    if [ "$(id -u)" = 0 ] && command -v go >/dev/null; then
        echo "Building Helm for the tests of the chart ..."
        # Without an optimiser, like the schema registry of the tests, which then finds Go's own library compiled.
        CGO_ENABLED=0 GOBIN=/usr/local/bin timeout 1800 \
            go install "-gcflags=all=-N -l" "-ldflags=-s -w" helm.sh/helm/v3/cmd/helm@v3.18.6 >"$log" 2>&1 </dev/null ||
            tail -5 "$log"
    fi
    rm -f "$log"
    command -v helm >/dev/null || echo "NOT TESTED: the chart, which needs Helm; its tests are skipped." >&2
fi
