package rules

import (
	"strings"
	"testing"
)

func TestPins(t *testing.T) {
	sum := strings.Repeat("0123456789abcdef", 4)
	commit := sum[:40]
	runCases(t, []checkCase{
		{"downloads", checkPins, map[string]string{pinsFile: strings.Join([]string{
			"# set platform name version tag sha256",
			"mlx linux-arm64 mlx-cpu 0.32.4 py3-none-any " + sum,
			"mlx linux-arm64 mlx-cpu 0.32.4 py3-none-any " + sum[:63],
			"mlx linux-arm64 mlx-cpu latest py3-none-any " + sum,
			"mlx linux-arm64 mlx-cpu py3-none-any " + sum,
			"",
		}, "\n")}, []string{pinsFile + ":3", pinsFile + ":4", pinsFile + ":5"}},
		{"a fetcher without a list", checkPins, map[string]string{"cmd/internal/deps/deps.py": ""}, []string{pinsFile + ":0"}},
		{"actions", checkPins, map[string]string{".github/workflows/x.yml": strings.Join([]string{
			"    runs-on: ubuntu-24.04",
			"      - uses: actions/checkout@" + commit + " # v7.0.1",
			"      - uses: actions/checkout@v7",
			"      - uses: actions/checkout@" + commit,
			"        uses: ./.github/actions/own",
			"      - uses: docker://alpine@sha256:" + sum,
			"      - uses: docker://alpine:3",
			"    runs-on: macos-latest",
			"    container: debian:latest",
		}, "\n")}, []string{".github/workflows/x.yml:3", ".github/workflows/x.yml:4", ".github/workflows/x.yml:7", ".github/workflows/x.yml:8", ".github/workflows/x.yml:9"}},
		{"recipes", checkPins, map[string]string{
			"Makefile": "tool:\n\tgo run example.org/tool@latest\n\t# go run example.org/tool@latest\n\tgo run example.org/tool@v1.2.3\n",
			"deps.sh": "apt-get install -y --no-install-recommends \\\n  g++ make\napt-get install -y $PACKAGES\napt-get install -y && true\n" +
				"python3 -m pip install mlx\npython3 -m pip install mlx==0.32.4\napt-get -y install g++\napt-get update\n",
			"docs/x.md": "go run example.org/tool@latest\n",
			".ci/run":   "npm install -g x@latest\n",
		}, []string{".ci/run:1", "Makefile:2", "deps.sh:3", "deps.sh:4", "deps.sh:5"}},
	})
}
