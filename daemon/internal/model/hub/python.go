package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fulmen/daemon/api"
)

//go:embed requirements.txt
var requirements []byte

// reportEvery is how often it is reported that an environment is being made.
const reportEvery = 5 * time.Second

// environment gives the Python of an environment that has huggingface_hub. It is made where
// it is not there, or where again says that it is of no use.
func (g *get) environment(ctx context.Context, again bool) (python string, err error) {
	at := g.environmentFolder()
	python = filepath.Join(at, "bin", "python3")
	if _, err := os.Stat(python); err == nil && !again {
		return python, nil
	}
	g.progress.Doing = "making the environment for huggingface_hub"
	made := make(chan error, 1)
	go func() { made <- g.makeEnvironment(ctx, at, again) }()
	for {
		if err := g.reporter.Model(g.progress, false); err != nil {
			return "", err
		}
		select {
		case err := <-made:
			g.progress.Doing = ""
			return python, err
		case <-time.After(reportEvery):
		}
	}
}

// environmentFolder is in the account's cache folder, one for each list of packages.
func (g *get) environmentFolder() string {
	base := filepath.Join(cmp.Or(variable(g.task.Environment, "XDG_CACHE_HOME"), filepath.Join(g.task.Places.Home, ".cache")), "fulmen")
	if runtime.GOOS == "darwin" {
		base = filepath.Join(g.task.Places.Home, "Library", "Caches", "Fulmen")
	}
	sum := sha256.Sum256(requirements)
	return filepath.Join(base, fmt.Sprintf("huggingface_hub-%x", sum[:4]))
}

// makeEnvironment makes it as a whole: beside its place, and one process at a time.
func (g *get) makeEnvironment(ctx context.Context, at string, again bool) error {
	base, err := g.basePython(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(at+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close()
	before, _ := os.Stat(at)
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		return err
	}
	// Another process may have made it meanwhile.
	if now, err := os.Stat(at); err == nil && (!again || before == nil || !os.SameFile(before, now)) {
		return nil
	}
	next, list := at+".new", at+".txt"
	defer os.Remove(list)
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := os.WriteFile(list, requirements, 0o644); err != nil {
		return err
	}
	environment := withoutPython(g.task.Environment)
	if err := g.step(command(ctx, base, environment, "-I", "-m", "venv", next),
		"On Linux, install what makes environments: python3-venv. Or name a Python that has huggingface_hub as models.python in the configuration."); err != nil {
		return err
	}
	if err := g.step(command(ctx, filepath.Join(next, "bin", "python3"), environment, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
		"--retries=2", "--no-compile", "--no-deps", "--require-hashes", "--only-binary=:all:", "-r", list),
		"Check that this Mac reaches the Python Package Index. Or name a Python that has huggingface_hub as models.python in the configuration."); err != nil {
		return err
	}
	if err := os.RemoveAll(at); err != nil {
		return err
	}
	return os.Rename(next, at)
}

// step runs a step of it; its last line is why it failed.
func (g *get) step(c *exec.Cmd, remedy string) error {
	out, err := c.CombinedOutput()
	if err == nil {
		return nil
	}
	return api.Errorf(api.ReasonModelNotCopied, g.task.Model.Model, "The environment for huggingface_hub could not be made: %s.", strings.TrimSuffix(cmp.Or(lastLine(string(out)), err.Error()), ".")).
		WithRemedy(remedy)
}

// basePython is the first python3 of the account's PATH that is new enough.
func (g *get) basePython(ctx context.Context) (string, error) {
	for _, folder := range filepath.SplitList(cmp.Or(variable(g.task.Environment, "PATH"), "/usr/bin:/bin")) {
		at := filepath.Join(folder, "python3")
		if info, err := os.Stat(at); err != nil || info.IsDir() || !filepath.IsAbs(at) || unix.Access(at, unix.X_OK) != nil {
			continue
		}
		// Without Command Line Tools macOS has a program there that asks for them in a window.
		if runtime.GOOS == "darwin" && folder == "/usr/bin" && command(ctx, "/usr/bin/xcode-select", nil, "-p").Run() != nil {
			continue
		}
		if command(ctx, at, withoutPython(g.task.Environment), "-I", "-c", "import sys; sys.exit(sys.version_info < (3, 9))").Run() == nil {
			return at, nil
		}
	}
	return "", api.Errorf(api.ReasonInterpreterMissing, "python3", "The account %s has no Python 3.9 or newer, by which models are got from Hugging Face.", g.task.Account).
		WithRemedy("Install it: xcode-select --install, or brew install python. On Linux: python3 and python3-venv.")
}

// variable is the value of a variable of an environment.
func variable(environment []string, name string) (value string) {
	for _, entry := range environment {
		if is, v, _ := strings.Cut(entry, "="); is == name {
			value = v
		}
	}
	return value
}

// withoutPython is an environment without what would change another Python.
func withoutPython(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(entry string) bool {
		return strings.HasPrefix(entry, "PYTHON") || strings.HasPrefix(entry, "VIRTUAL_ENV=")
	})
}
