package rules

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// pinsFile lists what is downloaded, a line each: set, platform, name, version,
// wheel tag, sha256.
const pinsFile = "cmd/internal/deps/pins.txt"

var (
	usesLine    = regexp.MustCompile(`^\s*(?:-\s*)?uses:\s*(\S+)(.*)$`)
	pinnedUse   = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)
	versionNote = regexp.MustCompile(`^\s+#\s*v\d+`)
	pinnedImage = regexp.MustCompile(`^docker://\S+@sha256:[0-9a-f]{64}$`)
	floating    = regexp.MustCompile(`@(?:latest|master|main)\b|:latest\b|runs-on:.*-latest\b`)
	aptInstall  = regexp.MustCompile(`\bapt(?:-get)?\s(?:.*\s)?install\b(.*)$`)
	pipInstall  = regexp.MustCompile(`\bpip3?\s(?:.*\s)?install\b(.*)$`)
	sha256Hex   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	exactNumber = regexp.MustCompile(`^[0-9][0-9A-Za-z.+-]*$`)
)

// checkPins wants every tool, action and download pinned.
func checkPins(t *Tree) ([]Problem, error) {
	var out []Problem
	for _, name := range t.files {
		var check func(string, []line) []Problem
		switch {
		case name == pinsFile:
			check = pinLines
		case isWorkflow(name), isRecipe(name):
			check = recipeLines
		default:
			continue
		}
		lines, err := t.lines(name)
		if err != nil {
			return nil, err
		}
		out = append(out, check(name, lines)...)
	}
	if t.has(path.Dir(pinsFile)) && !t.has(pinsFile) {
		out = append(out, Problem{
			File: pinsFile, What: "is missing, though " + path.Dir(pinsFile) + " is there",
			Remedy: "list there what is downloaded: set platform name version tag sha256",
		})
	}
	return out, nil
}

func isWorkflow(name string) bool {
	ext := path.Ext(name)
	return strings.HasPrefix(name, ".github/") && (ext == ".yml" || ext == ".yaml")
}

// isRecipe reports whether name is a file of commands.
func isRecipe(name string) bool {
	return path.Base(name) == "Makefile" || path.Ext(name) == ".mk" || path.Ext(name) == ".sh" || strings.HasPrefix(name, ".ci/")
}

// pinLines checks the list of downloads.
func pinLines(name string, lines []line) []Problem {
	var out []Problem
	for _, l := range lines {
		text, _, _ := strings.Cut(l.text, "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		p := Problem{File: name, Line: l.no, Remedy: "write: set platform name version tag sha256"}
		switch {
		case len(fields) != 6:
			p.What = "a pin has six fields"
		case !exactNumber.MatchString(fields[3]):
			p.What = fields[3] + " is no exact version"
		case !sha256Hex.MatchString(fields[5]):
			p.What = "the last field is no sha256: 64 lower-case hexadecimal digits"
		default:
			continue
		}
		out = append(out, p)
	}
	return out
}

// recipeLines checks workflows, makefiles and scripts.
func recipeLines(name string, lines []line) []Problem {
	var out []Problem
	bad := func(no int, what, remedy string) {
		out = append(out, Problem{File: name, Line: no, What: what, Remedy: remedy})
	}
	for _, l := range joined(lines) {
		if strings.HasPrefix(strings.TrimSpace(l.text), "#") {
			continue
		}
		if m := usesLine.FindStringSubmatch(l.text); m != nil && isWorkflow(name) && !usePinned(m[1], m[2]) {
			bad(l.no, m[1]+" is not pinned", "pin the action by its 40-digit commit, with the version as a comment: uses: owner/name@COMMIT # v1.2.3")
		}
		if m := floating.FindString(l.text); m != "" {
			bad(l.no, m+" is another thing tomorrow", "name a version")
		}
		if m := aptInstall.FindStringSubmatch(l.text); m != nil && !namesPackages(m[1]) {
			bad(l.no, "apt installs what a variable says, or nothing", "name the packages on the line")
		}
		if m := pipInstall.FindStringSubmatch(l.text); m != nil && !strings.Contains(m[1], "==") && !strings.Contains(m[1], "--require-hashes") {
			bad(l.no, "pip installs whatever version is newest", "name the version (name==1.2.3), better by way of "+pinsFile)
		}
	}
	return out
}

// usePinned judges the value of a uses: key and what follows it. A workflow or
// action of this repository needs no pin.
func usePinned(what, rest string) bool {
	return strings.HasPrefix(what, "./") || pinnedImage.MatchString(what) ||
		pinnedUse.MatchString(what) && versionNote.MatchString(rest)
}

// namesPackages reports whether the words behind apt-get install name packages.
func namesPackages(rest string) bool {
	rest, _, _ = strings.Cut(rest, "&&")
	rest, _, _ = strings.Cut(rest, ";")
	named := false
	for _, w := range strings.Fields(rest) {
		if strings.Contains(w, "$") {
			return false
		}
		named = named || !strings.HasPrefix(w, "-")
	}
	return named
}

// joined puts lines that end in a backslash together with the next, under the
// number of the first.
func joined(lines []line) []line {
	var out []line
	open := false
	for _, l := range lines {
		text, more := strings.CutSuffix(l.text, `\`)
		if open {
			out[len(out)-1].text += " " + text
		} else {
			out = append(out, line{l.no, text})
		}
		open = more
	}
	return out
}

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
