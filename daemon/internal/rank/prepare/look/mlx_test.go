package look

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// What an interpreter says of its MLX is the program's, unless the program finds
// another one.
func TestTheMLXOfAProgram(t *testing.T) {
	ring := &api.ProgramMLX{Version: "0.32.4", Backends: []api.MLXBackend{api.MLXBackendRing}}
	for _, test := range []struct {
		name, reports string
		env           []string
		files         map[string]string
		want          *api.ProgramMLX
	}{
		{name: "with a ring alone", reports: `\037mlx\037has ring\037mlx\037`, want: ring},
		{name: "with no backend", reports: `\037mlx\037has \037mlx\037`, want: &api.ProgramMLX{Version: "0.32.4", Backends: []api.MLXBackend{}}},
		{name: "with one of the future", reports: `\037mlx\037has ring warp\037mlx\037`, want: ring},
		{name: "none", reports: `\037mlx\037none\037mlx\037`, want: &api.ProgramMLX{Missing: true, Version: "0.32.4"}},
		{name: "too old to say", reports: `\037mlx\037\037mlx\037`},
		{name: "says nothing", reports: ``},
		{name: "breaks off", reports: `\037mlx\037has ri`},
		{name: "crashes", reports: `'; kill -SEGV $$; '`},
		{name: "another by PYTHONPATH", reports: `\037mlx\037has ring\037mlx\037`, env: []string{"PYTHONPATH=ROOT/src"}, files: map[string]string{"src/mlx/core.so": ""}},
		{name: "none by PYTHONPATH", reports: `\037mlx\037has ring\037mlx\037`, env: []string{"PYTHONPATH=ROOT/src"}, want: ring},
		{name: "another in the folder", reports: `\037mlx\037has ring\037mlx\037`, files: map[string]string{"work/mlx/core.cpython-312.so": ""}},
		{name: "without the user's packages", reports: `\037mlx\037has ring\037mlx\037`, env: []string{"PYTHONNOUSERSITE=1"}, files: map[string]string{"user/mlx/core.so": ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			files := map[string]string{
				"bin/python3":                       fakePython("3.12.1", "1", "lib") + "printf '" + test.reports + "'\n",
				"lib/mlx-0.32.4.dist-info/METADATA": metadata("0.32.4"), "work/train.py": "",
			}
			for name, text := range test.files {
				files[name] = text
			}
			root := tree(t, files)
			for i := range test.env {
				test.env[i] = strings.ReplaceAll(test.env[i], "ROOT", root)
			}
			a := find(Request{
				Op: OpFind, Home: root, Directory: root + "/work", Command: []string{"train.py"}, Packages: []string{"mlx"},
				Env: append([]string{"PATH=" + root + "/bin"}, test.env...),
			})
			is.Equal(len(a.Problems), 0)
			is.Equal(a.Versions["python"], "3.12.1")
			is.Equal(a.MLX, test.want)
		})
	}
}

// A real Python imports MLX as the program would, and says of which backends it is.
func TestARealPythonSaysItsMLX(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here")
	}
	for name, test := range map[string]struct {
		core string
		want *api.ProgramMLX
	}{
		"both":    {"class distributed:\n  is_available=staticmethod(lambda backend: True)\n", &api.ProgramMLX{Backends: []api.MLXBackend{api.MLXBackendJACCL, api.MLXBackendRing}}},
		"a ring":  {"class distributed:\n  is_available=staticmethod(lambda backend: backend == 'ring')\n", &api.ProgramMLX{Backends: []api.MLXBackend{api.MLXBackendRing}}},
		"of old":  {"class distributed:\n  is_available=staticmethod(lambda: True)\n", nil},
		"broken":  {"import no_such_module\n", nil},
		"crashes": {"import os\nos.abort()\n", nil},
		"ends":    {"raise SystemExit(3)\n", nil},
		"none":    {"", &api.ProgramMLX{Missing: true}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			home := t.TempDir()
			version, err := exec.Command(python, "-c", "import sys; print('python%d.%d' % sys.version_info[:2])").Output()
			is.NoErr(err)
			must(t, exec.Command(python, "-m", "venv", "--without-pip", filepath.Join(home, "venv")).Run())
			if test.core != "" {
				at := filepath.Join(home, "venv", "lib", strings.TrimSpace(string(version)), "site-packages", "mlx")
				must(t, os.MkdirAll(at, 0o755))
				must(t, os.WriteFile(filepath.Join(at, "core.py"), []byte(test.core), 0o644))
			}
			got, err := askPython(Request{Home: home}, filepath.Join(home, "venv", "bin", "python"))
			is.NoErr(err)
			is.Equal(got.MLX, test.want)
		})
	}
}
