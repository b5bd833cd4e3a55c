package hub

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/files/wire"
)

// broken writes an environment of which nothing is left but its Python.
func (r *rig) broken(t *testing.T) (python string) {
	t.Helper()
	g := &get{task: r.task}
	python = filepath.Join(g.environmentFolder(), "bin", "python3")
	is := is.New(t)
	is.NoErr(os.MkdirAll(filepath.Dir(python), 0o755))
	is.NoErr(os.WriteFile(python, []byte("#!/bin/sh\necho '{\"problem\":\"no_hub\"}'\n"), 0o755))
	return python
}

// TestEnvironment is made of the packages that the build knows, where the one that is there
// is of no use, and stays.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	wheels, err := filepath.Abs("../../../../build/cache/wheels")
	is.NoErr(err)
	if _, err := os.Stat(filepath.Join(wheels, "huggingface_hub-2.4.0-py3-none-any.whl")); err != nil {
		t.Skip("there are no wheels here; cmd/internal/deps/deps.sh mlxlm fetches them")
	}
	if err := exec.CommandContext(t.Context(), "python3", "-c", "import sys, venv, ensurepip; sys.exit(sys.version_info[:2] < (3, 11))").Run(); err != nil {
		t.Skip("python3 is older than what the wheels here are for, or makes no environments")
	}
	r := newRig(t, "PIP_NO_INDEX=1", "PIP_FIND_LINKS="+wheels, "PYTHONPATH=/of/another")
	r.task.Environment = append(r.task.Environment, "HF_ENDPOINT="+r.URL)
	python := r.broken(t)
	reports := r.runHere()
	l := last(t, reports)
	if l.State != wire.ReportDone {
		t.Fatalf("%+v %+v", l.Error, l.Error.Data)
	}
	is.Equal(reports[0].Model.Doing, "making the environment for huggingface_hub")
	is.Equal(l.Model.Doing, "")
	before, err := os.Stat(python)
	is.NoErr(err)
	is.Equal(last(t, r.runHere()).State, wire.ReportDone)
	after, err := os.Stat(python)
	is.NoErr(err)
	is.Equal(before.ModTime(), after.ModTime())
	left, err := filepath.Glob(filepath.Join(r.home, ".cache/fulmen/*"))
	is.NoErr(err)
	is.Equal(len(left), 2) // it, and its lock
}

// TestListOfPackages has the hashes that the build has for the same packages.
func TestListOfPackages(t *testing.T) {
	is := is.New(t)
	pins, err := os.ReadFile("../../../../cmd/internal/deps/pins.txt")
	is.NoErr(err)
	known := 0
	for line := range strings.Lines(string(pins)) {
		fields := strings.Fields(line)
		if len(fields) != 6 || fields[0] != "mlxlm" || !strings.Contains(string(requirements), fields[2]+"=="+fields[3]) {
			continue
		}
		known++
		if !strings.Contains(string(requirements), "--hash=sha256:"+fields[5]) {
			t.Errorf("requirements.txt lacks the hash of %s %s", fields[2], fields[3])
		}
	}
	is.True(known > 12)
}

// TestNoEnvironment: why there is none is explained, and no half of one is left.
func TestNoEnvironment(t *testing.T) {
	const old = "#!/bin/sh\nexit 1\n"
	const noPip = `#!/bin/sh
PATH=/usr/bin:/bin
case "$*" in
*venv*) mkdir -p "$4/bin" && printf '#!/bin/sh\necho "ERROR: No matching distribution found for anyio==4.16.0" >&2\nexit 1\n' > "$4/bin/python3" && chmod +x "$4/bin/python3";;
esac
`
	const noVenv = "#!/bin/sh\ncase \"$*\" in *venv*) echo 'ensurepip is not available'; exit 1;; esac\n"
	for name, c := range map[string]struct {
		python  string
		reason  api.Reason
		message string
		remedy  string
	}{
		"no Python":  {"", api.ReasonInterpreterMissing, "no Python 3.9 or newer", "xcode-select --install"},
		"an old one": {old, api.ReasonInterpreterMissing, "no Python 3.9 or newer", "xcode-select --install"},
		"no index":   {noPip, api.ReasonModelNotCopied, "ERROR: No matching distribution found for anyio==4.16.0.", "Python Package Index"},
		"no venv":    {noVenv, api.ReasonModelNotCopied, "ensurepip is not available.", "python3-venv"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t)
			bin := filepath.Join(r.home, "bin")
			is.NoErr(os.Mkdir(bin, 0o755))
			if c.python != "" {
				is.NoErr(os.WriteFile(filepath.Join(bin, "python3"), []byte(c.python), 0o755))
			}
			r.task.Environment = append(r.task.Environment, "PATH="+bin)
			err := last(t, r.runHere()).Error
			is.True(err != nil)
			is.Equal(err.Data.Reason, c.reason)
			is.True(strings.Contains(err.Message, c.message))
			is.True(strings.Contains(err.Data.Remedy, c.remedy))
			g := &get{task: r.task}
			_, missing := os.Stat(g.environmentFolder())
			is.True(os.IsNotExist(missing))
		})
	}
}
