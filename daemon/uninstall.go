package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/config"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/rdma"
	"fulmen/daemon/internal/uninstall"
	"fulmen/native"
)

// commandWithin bounds a command of the system: stopping the daemon is one.
const commandWithin = 30 * time.Second

// Uninstall says what Fulmen has left on this machine and what would become of it,
// or, where it is to be removed, takes it away. It writes one JSON object: an
// uninstall plan, or what has become of it. No daemon runs meanwhile, or it ends
// with the service that keeps it.
func Uninstall(ctx context.Context, remove, deleteOutput bool, out io.Writer) error {
	o, err := uninstalling(home.Process())
	if err != nil {
		return err
	}
	plan := uninstall.List(o, deleteOutput)
	if !remove {
		return json.NewEncoder(out).Encode(plan)
	}
	result, err := uninstall.Remove(ctx, o, plan)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

// uninstalling is what is uninstalled by somebody in an environment.
func uninstalling(environment home.Environment) (uninstall.Options, error) {
	folders, err := home.Resolve(environment)
	if err != nil {
		return uninstall.Options{}, err
	}
	if environment.UID != 0 && environment.Getenv(api.EnvHome) == "" && !isThere(folders.State) && isThere(systemState(environment.OS)) {
		e := api.Errorf(api.ReasonAdminRequired, systemState(environment.OS), "Fulmen is installed for everybody on this machine.")
		e.Data.Remedy = "Uninstall it as root: sudo fulmen uninstall"
		return uninstall.Options{}, e
	}
	text, err := os.ReadFile(folders.ConfigFile())
	if err == nil {
		parsed, err := config.Parse(string(text))
		if err != nil {
			e := api.Errorf(api.ReasonConfigInvalid, folders.ConfigFile(), "%s cannot be read, so that it is not known where everything is.", folders.ConfigFile())
			if wrong, is := errors.AsType[*config.ParseError](err); is {
				e.Data.Causes = wrong.In(folders.ConfigFile()).Data.Causes
			}
			e.Data.Remedy = "Mend the file, or remove it where it says nothing of folders."
			return uninstall.Options{}, e
		}
		folders = folders.With(parsed.Config.Paths.State, parsed.Config.Paths.Logs)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return uninstall.Options{}, home.Explain(err, "read", folders.ConfigFile())
	}
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return uninstall.Options{}, err
	}
	return uninstall.Options{
		Folders: folders, OS: environment.OS, Programs: filepath.Dir(self), IsAlone: environment.Getenv(api.EnvHome) != "",
		Undo: openChanges, Run: runCommand,
		Ranks: func(ctx context.Context) error { return endUnits(ctx, filepath.Join(folders.Runtime, "units")) },
	}, nil
}

// systemState is where the daemon of the whole machine keeps its state.
func systemState(system string) string {
	if system == "darwin" {
		return api.MacStateFolder
	}
	return api.LinuxStateFolder
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// runCommand runs a command of the system; its error has what that said.
func runCommand(ctx context.Context, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, commandWithin)
	defer cancel()
	said, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	words := strings.Join(append([]string{filepath.Base(name)}, args...), " ")
	if text := strings.TrimSpace(string(said)); text != "" {
		return api.Errorf(api.ReasonInternal, words, "%s: %s", words, text)
	}
	return api.Errorf(api.ReasonInternal, words, "%s failed%s.", words, native.Said(err)).From(err)
}

// endUnits ends what runs on of jobs without a daemon.
func endUnits(ctx context.Context, folder string) error {
	if !isThere(folder) && runtime.GOOS == "linux" {
		return nil // nothing was ever started
	}
	platform, err := systemPlatform(folder)
	if err != nil {
		return err
	}
	if platform, err = platform.Complete(); err != nil {
		return err
	}
	defer platform.Close()
	all, err := platform.Supervisor.List(ctx, api.RankLabelPrefix)
	if err != nil {
		return err
	}
	for _, unit := range all {
		if e := platform.Supervisor.Remove(ctx, unit.Label); e != nil && !errors.Is(e, native.ErrNotFound) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// openChanges counts the changes in a record of them that have something to put
// back. A record that cannot be read has one.
func openChanges(path string) int {
	records, err := rdma.UndoFile{Path: path}.Load()
	if err != nil {
		return 1
	}
	count := 0
	for _, r := range records {
		if r.State != api.RDMAChangeUndone && len(r.Left()) > 0 {
			count++
		}
	}
	return count
}
