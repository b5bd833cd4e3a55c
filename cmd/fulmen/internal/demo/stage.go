package demo

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"fulmen/daemon/api"
)

// Programs are the paths of Fulmen's own programs that a cluster consists of.
type Programs struct {
	// Fulmend is the daemon's. Beside it are Shim, which holds ranks, and Worker, which
	// runs jobs; empty where there is none.
	Fulmend, Shim, Worker string
}

// Beside are the programs where a daemon's lies.
func Beside(fulmend string) Programs {
	beside := func(name string) string {
		path := filepath.Join(filepath.Dir(fulmend), name)
		if status, err := os.Stat(path); err != nil || !status.Mode().IsRegular() {
			return ""
		}
		return path
	}
	return Programs{Fulmend: fulmend, Shim: beside("fulmen-shim"), Worker: beside("fulmen-rank")}
}

// For gives programs that the account can execute: these, or where it cannot,
// because a folder on the way is closed to it, links to them or copies in a new
// folder, with MLX where the worker looks for it.
func (p Programs) For(a Account, folder string) (Programs, error) {
	err := p.try(a)
	if err == nil || a.credential == nil {
		return p, err
	}
	from := filepath.Dir(filepath.Dir(p.Fulmend))
	staged := Programs{Fulmend: filepath.Join(folder, "bin", filepath.Base(p.Fulmend))}
	all := map[string]string{p.Fulmend: staged.Fulmend}
	if p.Shim != "" {
		staged.Shim = filepath.Join(folder, "bin", filepath.Base(p.Shim))
		all[p.Shim] = staged.Shim
	}
	if p.Worker != "" {
		staged.Worker = filepath.Join(folder, "bin", filepath.Base(p.Worker))
		all[p.Worker] = staged.Worker
		for _, libraries := range []string{"mlx/current", "Resources/mlx"} {
			if path, err := filepath.EvalSymlinks(filepath.Join(from, libraries)); err == nil {
				all[path] = filepath.Join(folder, libraries)
			}
		}
	}
	if err := makeOpen(folder); err != nil {
		return p, err
	}
	for path, target := range all {
		if err := bring(path, target); err != nil {
			return p, err
		}
	}
	return staged, staged.try(a)
}

// try executes each program as the account, for as little as it does. Of the
// daemon's it is enough that it starts; the worker also needs MLX.
func (p Programs) try(a Account) error {
	daemon := exec.Command(p.Fulmend, "run", "-h")
	a.runs(daemon)
	if err := daemon.Run(); err != nil && daemon.ProcessState == nil {
		return notStarted(p.Fulmend)
	}
	if p.Worker == "" {
		return nil
	}
	worker := exec.Command(p.Worker, "help")
	a.runs(worker)
	if out, err := worker.CombinedOutput(); err != nil {
		e := notStarted(p.Worker)
		if len(out) > 0 {
			e.Data.Causes = []api.Cause{{Message: string(out[:min(len(out), evidence)])}}
		}
		return e
	}
	return nil
}

// bring brings a file, or a folder with all below, to another place, readable by
// all: by hard links, which cost nothing, where that is possible, else by copies.
func bring(from, to string) error {
	if err := makeOpen(filepath.Dir(to)); err != nil {
		return err
	}
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
			return makeOpen(target)
		}
		info, err := os.Stat(path) // of a link what it leads to
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		mode := info.Mode().Perm() | 0o444
		if mode&0o111 != 0 {
			mode |= 0o111
		}
		// A link has the mode of what it links to.
		if entry.Type().IsRegular() && mode == info.Mode().Perm() && os.Link(path, target) == nil {
			return nil
		}
		return duplicate(path, target, mode)
	})
}

// makeOpen makes a folder that all may read, whatever the umask.
func makeOpen(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return os.Chmod(path, 0o755)
}

func duplicate(from, to string, mode fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(mode), out.Close())
}
