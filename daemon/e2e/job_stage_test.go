package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fulmen/daemon/e2e/desk"
)

// stage is a folder with everything that jobs of a test need, and that the
// account may read as which they run: jobs never run as root, and the checkout
// of one who is may be closed to others.
type stage struct {
	t       *testing.T
	folder  string
	account desk.Account
	// fulmen and fulmend are Fulmen's programs.
	fulmen, fulmend string
	// python is a Python environment's, with MLX; empty where there is none.
	python string
	// whyNoPython says why, and whyNoMLXLM why it has no mlx_lm; empty where it has.
	whyNoPython, whyNoMLXLM string
}

// newStage makes a stage, or skips the test where nobody can run jobs.
func newStage(t *testing.T) *stage {
	t.Helper()
	account, found := desk.Someone()
	if !found {
		t.Skip("jobs never run as root, and there is no person's account here")
	}
	folder, err := os.MkdirTemp("", "fj") // paths of sockets are short
	must(t, "a folder", err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	must(t, "opening it", os.Chmod(folder, 0o755))
	s := &stage{t: t, folder: folder, account: account, fulmen: filepath.Join(folder, "bin", "fulmen"), fulmend: filepath.Join(folder, "bin", "fulmend")}
	must(t, "folders", os.MkdirAll(filepath.Join(folder, "work"), 0o755))
	must(t, "giving one", account.Owns(s.work()))
	must(t, "programs", link(filepath.Join("testdata", "programs"), filepath.Join(folder, "programs"), false))
	s.stagePython()
	return s
}

// buildFulmen builds Fulmen's own programs.
func (s *stage) buildFulmen() {
	s.t.Helper()
	build := exec.Command("go", "build", "-o", filepath.Dir(s.fulmen)+string(filepath.Separator), "fulmen/cmd/fulmen", "fulmen/cmd/fulmend")
	if out, err := build.CombinedOutput(); err != nil {
		s.t.Fatalf("go build: %v\n%s", err, out)
	}
	if _, err := os.Stat(worker()); err == nil {
		must(s.t, "the worker", link(worker(), filepath.Join(filepath.Dir(s.fulmen), "fulmen-rank"), true))
	}
}

// work is a folder in which the account may write.
func (s *stage) work() string { return filepath.Join(s.folder, "work") }

// program is the path of one of testdata/programs.
func (s *stage) program(name string) string { return filepath.Join(s.folder, "programs", name) }

// needPython skips a test whose programs are Python's.
func (s *stage) needPython(t *testing.T) {
	t.Helper()
	if s.whyNoPython != "" {
		t.Skip(s.whyNoPython)
	}
}

// needMLXLM skips a test that runs mlx_lm.
func (s *stage) needMLXLM(t *testing.T) {
	t.Helper()
	s.needPython(t)
	if s.whyNoMLXLM != "" {
		t.Skip(s.whyNoMLXLM)
	}
}

// stagePython makes a Python environment as python -m venv does, with MLX in it.
func (s *stage) stagePython() {
	build, err := filepath.Abs(filepath.Join("..", "..", "build"))
	must(s.t, "the build folder", err)
	cores, _ := filepath.Glob(filepath.Join(build, "mlx", "current", "mlx", "core.cpython-*"))
	if len(cores) != 1 {
		s.whyNoPython = "there is no MLX for Python here; make deps fetches it for 3.10 to 3.14"
		return
	}
	version := strings.Split(filepath.Base(cores[0]), "-")[1]
	base, err := s.interpreter(version, filepath.Join(build, "tools", "bin", "python3"), "/usr/bin/python3")
	if err != nil {
		s.whyNoPython = err.Error()
		return
	}
	packages := []string{filepath.Join(build, "mlx", "current")}
	if lm := filepath.Join(build, "tools", "mlxlm"); exists(lm) {
		packages = append(packages, lm)
	} else {
		s.whyNoMLXLM = "there is no mlx_lm here; cmd/internal/deps/deps.sh mlxlm fetches it"
	}
	for i, from := range packages {
		real, err := filepath.EvalSymlinks(from)
		must(s.t, "packages", err)
		packages[i] = filepath.Join(s.folder, "packages", filepath.Base(real))
		must(s.t, "packages", link(real, packages[i], true))
	}
	venv := s.venv()
	site := filepath.Join(venv, "lib", "python"+version[:1]+"."+version[1:], "site-packages")
	must(s.t, "an environment", os.MkdirAll(site, 0o755))
	must(s.t, "an environment", os.MkdirAll(filepath.Join(venv, "bin"), 0o755))
	must(s.t, "its packages", os.WriteFile(filepath.Join(site, "staged.pth"), []byte(strings.Join(packages, "\n")+"\n"), 0o644))
	must(s.t, "its description", os.WriteFile(filepath.Join(venv, "pyvenv.cfg"), []byte("home = "+filepath.Dir(base)+"\n"), 0o644))
	s.python = filepath.Join(venv, "bin", "python3")
	must(s.t, "its interpreter", os.Symlink(base, s.python))
	if out, err := s.command(context.Background(), s.python, "-c", "import mlx.core").CombinedOutput(); err != nil {
		s.t.Fatalf("the environment does not work: %v\n%s", err, out)
	}
}

// venv is the Python environment's folder.
func (s *stage) venv() string { return filepath.Join(s.folder, "venv") }

// interpreter finds the Python of a version, such as 311, that the account may
// run.
func (s *stage) interpreter(version string, candidates ...string) (string, error) {
	const ask = "import sys; print(getattr(sys, '_base_executable', sys.executable), '%d%d' % sys.version_info[:2])"
	var reasons []string
	for _, candidate := range candidates {
		// Asked as this process's account, which may see more; then tried as the other.
		out, err := exec.Command(candidate, "-c", ask).Output()
		fields := strings.Fields(string(out))
		if err == nil && len(fields) == 2 && fields[1] == version {
			if err = s.command(context.Background(), fields[0], "-c", "").Run(); err == nil {
				return fields[0], nil
			}
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v %s", candidate, err, strings.Join(fields, " ")))
	}
	return "", fmt.Errorf("%s may run no Python %s: %s", s.account.Name, version, strings.Join(reasons, "; "))
}

// command is a program that runs as the account, in a folder of its own.
func (s *stage) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = s.work()
	s.account.Runs(c, "")
	return c
}

// ring writes the hostfile of a ring on loopback. The ports are free now; MLX
// takes them by number.
func (s *stage) ring(ranks int) string {
	s.t.Helper()
	var hosts [][]string
	for range ranks {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		must(s.t, "a port", err)
		defer listener.Close() // held until each rank has its own
		hosts = append(hosts, []string{listener.Addr().String()})
	}
	text, err := json.Marshal(hosts)
	must(s.t, "a hostfile", err)
	file, err := os.CreateTemp(s.folder, "hosts-*.json")
	must(s.t, "a hostfile", err)
	_, err = file.Write(text)
	must(s.t, "a hostfile", err)
	must(s.t, "a hostfile", file.Chmod(0o644))
	must(s.t, "a hostfile", file.Close())
	return file.Name()
}

// link brings a file, or a folder with all below, to another place: by hard
// links, which cost nothing, where that is allowed and possible, else by copies.
// Links share their owner and mode with what they link to.
func link(from, to string, hard bool) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, below)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if hard && os.Link(path, target) == nil {
			return nil
		}
		return duplicate(path, target)
	})
}

// duplicate copies a file with its executable bits.
func duplicate(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm()|0o444)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
