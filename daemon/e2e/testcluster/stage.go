package testcluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"fulmen/native/nativetest/testkit"
)

// ErrNobody says that nobody here may run jobs.
var ErrNobody = errors.New("jobs never run as root, and there is no person's account here")

// Stage is a folder with everything that jobs of a test need, and that the
// account may read as which they run: jobs never run as root, and the checkout
// of one who is may be closed to others.
type Stage struct {
	// Folder is where everything lies; its path is short. Work is a folder in it in
	// which the account may write.
	Folder, Work string
	// Account is the account under which jobs run.
	Account Account
	// Bin is where Fulmen's programs are to be put, whose paths the others are.
	Bin, Fulmen, Fulmend, Shim, Worker string
	// Rehearse is as in Options.
	Rehearse string
	// Python is a Python environment's, with MLX, and Venv is the environment.
	Python, Venv string
	// WhyNoPython says why there is none, and WhyNoMLXLM why it has no mlx_lm; empty
	// where it has.
	WhyNoPython, WhyNoMLXLM string

	// Checkout is the repository that programs are built of.
	Checkout string
}

// NewStage makes a stage from a checkout and what was built in it. Close removes
// it, also after an error.
func NewStage(checkout string) (*Stage, error) {
	account, found := Someone()
	if !found {
		return &Stage{}, ErrNobody
	}
	folder, err := os.MkdirTemp("", "fj")
	if err != nil {
		return &Stage{}, err
	}
	s := &Stage{
		Folder: folder, Work: filepath.Join(folder, "work"), Account: account, Venv: filepath.Join(folder, "venv"),
		Bin: filepath.Join(folder, "bin"), Checkout: checkout,
	}
	s.Fulmen, s.Fulmend = filepath.Join(s.Bin, "fulmen"), filepath.Join(s.Bin, "fulmend")
	s.Shim, s.Worker = filepath.Join(s.Bin, "fulmen-shim"), filepath.Join(s.Bin, "fulmen-rank")
	err = errors.Join(os.Chmod(folder, 0o755), os.Mkdir(s.Work, 0o755), os.Mkdir(s.Bin, 0o755), account.Owns(s.Work),
		Link(filepath.Join(checkout, "daemon", "e2e", "testdata", "programs"), filepath.Join(folder, "programs"), false))
	if err != nil {
		return s, err
	}
	return s, s.stagePython(filepath.Join(checkout, "build"))
}

// Build builds programs of Fulmen's, by their import paths, into Bin, as they are
// shipped: without what debuggers read, which takes a third of the linking. The result
// of a test that does so ends when anything of the repository changes.
func (s *Stage) Build(ctx context.Context, programs ...string) error {
	if err := testkit.WatchInputs(s.Checkout); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-ldflags=-s -w", "-o", s.Bin + string(filepath.Separator)}, programs...)...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// Start starts a cluster of these Macs of a scenario on the stage, whose fulmend
// is there. Config is as in Options. What it gives is to be closed, also after an
// error.
func (s *Stage) Start(ctx context.Context, scenario string, macs []string, config string) (*Cluster, error) {
	folder := filepath.Join(s.Folder, "desk")
	if err := errors.Join(os.Mkdir(folder, 0o700), s.Account.Owns(folder)); err != nil {
		return &Cluster{}, err
	}
	return Start(ctx, Options{Fulmend: s.Fulmend, Scenario: scenario, Macs: macs, Folder: folder, Config: config, Rehearse: s.Rehearse, Account: s.Account})
}

// Close removes the stage.
func (s *Stage) Close() {
	if s.Folder != "" {
		os.RemoveAll(s.Folder)
	}
}

// Program is the path of one of daemon/e2e/testdata/programs.
func (s *Stage) Program(name string) string { return filepath.Join(s.Folder, "programs", name) }

// Command is a program that runs as the account, in the folder for its work.
func (s *Stage) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = s.Work
	s.Account.Runs(c, "")
	return c
}

// stagePython makes a Python environment as python -m venv does, with MLX in it.
func (s *Stage) stagePython(build string) error {
	cores, _ := filepath.Glob(filepath.Join(build, "mlx", "current", "mlx", "core.cpython-*"))
	if len(cores) != 1 {
		s.WhyNoPython = "there is no MLX for Python here; make deps fetches it for 3.10 to 3.14"
		return nil
	}
	version := strings.Split(filepath.Base(cores[0]), "-")[1]
	base, why := s.interpreter(version, filepath.Join(build, "tools", "bin", "python3"), "/usr/bin/python3")
	if base == "" {
		s.WhyNoPython = why
		return nil
	}
	packages := []string{filepath.Join(build, "mlx", "current")}
	if lm := filepath.Join(build, "tools", "mlxlm"); exists(lm) {
		packages = append(packages, lm)
	} else {
		s.WhyNoMLXLM = "there is no mlx_lm here; cmd/internal/deps/deps.sh mlxlm fetches it"
	}
	for i, from := range packages {
		real, err := filepath.EvalSymlinks(from)
		if err != nil {
			return err
		}
		packages[i] = filepath.Join(s.Folder, "packages", filepath.Base(real))
		if err := errors.Join(Link(real, packages[i], true), s.ownFolders(packages[i])); err != nil {
			return err
		}
	}
	site := filepath.Join(s.Venv, "lib", "python"+version[:1]+"."+version[1:], "site-packages")
	s.Python = filepath.Join(s.Venv, "bin", "python3")
	err := errors.Join(os.MkdirAll(site, 0o755), os.Mkdir(filepath.Dir(s.Python), 0o755),
		os.WriteFile(filepath.Join(site, "staged.pth"), []byte(strings.Join(packages, "\n")+"\n"), 0o644),
		os.WriteFile(filepath.Join(s.Venv, "pyvenv.cfg"), []byte("home = "+filepath.Dir(base)+"\n"), 0o644),
		os.Symlink(base, s.Python))
	if err != nil {
		return err
	}
	if out, err := s.Command(context.Background(), s.Python, "-c", "import mlx.core").CombinedOutput(); err != nil {
		return fmt.Errorf("the environment does not work: %w\n%s", err, out)
	}
	return nil
}

// ownFolders gives the folders below one to the account, and not the files, which
// are links: then Python keeps there what it has compiled, and does so once.
func (s *Stage) ownFolders(below string) error {
	return filepath.WalkDir(below, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return s.Account.Owns(path)
	})
}

// interpreter finds the Python of a version, such as cp311's 311, that the
// account may run; or why there is none.
func (s *Stage) interpreter(version string, candidates ...string) (path, why string) {
	const ask = "import sys; print(getattr(sys, '_base_executable', sys.executable), '%d%d' % sys.version_info[:2])"
	var reasons []string
	for _, candidate := range candidates {
		// Asked as this process's account, which may see more; then tried as the other.
		out, err := exec.Command(candidate, "-c", ask).Output()
		fields := strings.Fields(string(out))
		if err == nil && len(fields) == 2 && fields[1] == version {
			if err = s.Command(context.Background(), fields[0], "-c", "").Run(); err == nil {
				return fields[0], ""
			}
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v %s", candidate, err, strings.Join(fields, " ")))
	}
	return "", fmt.Sprintf("%s may run no Python %s: %s", s.Account.Name, version, strings.Join(reasons, "; "))
}

// Ring writes the hostfile of a ring into the stage's folder.
func (s *Stage) Ring(ranks int) (path string, err error) { return Ring(s.Folder, ranks) }
