package uninstall

import (
	"context"
	"errors"
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
	"fulmen/native"
)

// commandWithin bounds a command of the system: stopping the daemon is one.
const commandWithin = 30 * time.Second

// Machine opens the system, with a folder of what it supervises.
type Machine func(units string) (native.Platform, error)

// Here is what is uninstalled by somebody in an environment of this machine. undo counts
// the changes of a record that were not put back.
func Here(environment home.Environment, undo func(path string) int, machine Machine) (Options, error) {
	folders, err := home.Resolve(environment)
	if err != nil {
		return Options{}, err
	}
	if environment.UID != 0 && environment.Getenv(api.EnvHome) == "" && !isThere(folders.State) && isThere(systemState(environment.OS)) {
		e := api.Errorf(api.ReasonAdminRequired, systemState(environment.OS), "Fulmen is installed for everybody on this machine.")
		e.Data.Remedy = "Uninstall it as root: sudo fulmen uninstall"
		return Options{}, e
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
			return Options{}, e
		}
		folders = folders.With(parsed.Config.Paths.State, parsed.Config.Paths.Logs)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Options{}, home.Explain(err, "read", folders.ConfigFile())
	}
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return Options{}, err
	}
	return Options{
		Folders: folders, OS: environment.OS, Programs: filepath.Dir(self), IsAlone: environment.Getenv(api.EnvHome) != "",
		Undo: undo, Run: runCommand,
		Ranks: func(ctx context.Context) error {
			return endUnits(ctx, machine, filepath.Join(folders.Runtime, "units"))
		},
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
func endUnits(ctx context.Context, machine Machine, folder string) error {
	if !isThere(folder) && runtime.GOOS == "linux" {
		return nil // nothing was ever started
	}
	platform, err := machine(folder)
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
