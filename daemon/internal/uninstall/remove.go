package uninstall

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/config"
	"fulmen/daemon/internal/home"
	"fulmen/native"
)

// Options say what is installed or uninstalled, and how the system is told.
type Options struct {
	// Folders are the daemon's, as its configuration has them.
	Folders home.Folders
	// OS is "darwin" or "linux".
	OS string
	// UID is the account.
	UID int
	// Root is put before the paths of the system's own folders; empty but in tests.
	Root string
	// Programs is the folder of Fulmen's programs, or empty; IsAlone says that all
	// folders are under one that somebody chose, so that the system was not touched.
	Programs string
	IsAlone  bool
	// Undo counts the changes that a record of them has and that were not put back. One
	// that cannot be read has some.
	Undo func(path string) int
	// Run runs a command of the system, such as systemctl; its error has what the
	// command said.
	Run func(ctx context.Context, name string, args ...string) error
	// Ranks ends what runs on of jobs; nil where nothing can.
	Ranks func(ctx context.Context) error
}

// Remove takes away what a plan says, which was made a moment ago. The services end
// first, and with them the daemon; one that still runs then, or that somebody has
// started by hand, keeps everything from being removed: an *api.Error says who.
func Remove(ctx context.Context, o Options, plan api.UninstallPlan) (api.UninstallResult, error) {
	r := api.UninstallResult{Removed: []api.UninstallItem{}, Stayed: []api.UninstallItem{}, Failed: o.stopServices(ctx)}
	if o.Ranks != nil {
		if err := o.Ranks(ctx); err != nil {
			r.Failed = append(r.Failed, failure("end", "jobs", err))
		}
	}
	if _, err := os.Stat(o.Folders.State); err == nil {
		lock, err := o.Folders.Lock()
		if err != nil {
			return r, err
		}
		defer lock.Release() // when all is gone
	}
	removed, stayed, failed := take(plan.Items)
	r.Removed, r.Stayed, r.Failed = append(r.Removed, removed...), append(r.Stayed, stayed...), append(r.Failed, failed...)
	// Where the plan had no lock, it was made here.
	_ = os.Remove(o.lockFile())
	if !o.IsAlone && o.OS == "linux" { // units whose files are gone are forgotten; without systemd there are none
		_ = o.does(ctx, o.systemctl("daemon-reload"))
	}
	r.Failed = append(r.Failed, o.tidy()...)
	return r, nil
}

// take takes away those items that do not stay.
func take(items []api.UninstallItem) (removed, stayed []api.UninstallItem, failed []api.UninstallFailure) {
	for _, item := range items {
		if item.Stays != "" {
			stayed = append(stayed, item)
		} else if err := os.RemoveAll(item.Path); err != nil {
			failed = append(failed, failure("remove", item.Path, err))
		} else {
			removed = append(removed, item)
		}
	}
	return removed, stayed, failed
}

// failure is what could not be done, in words for people.
func failure(doing, path string, err error) api.UninstallFailure {
	return api.UninstallFailure{Path: path, Message: api.AsError(home.Explain(err, doing, path)).Message}
}

// tidy removes the folders that are empty by now. What is in others is not Fulmen's, or stays.
func (o Options) tidy() []api.UninstallFailure {
	var failed []api.UninstallFailure
	for _, folder := range slices.Compact([]string{o.Folders.Logs, o.Folders.State, o.Folders.Config}) {
		if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
			continue
		}
		if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, failure("remove", folder, err))
		}
	}
	return failed
}

// commandWithin bounds a command of the system: stopping the daemon is one.
const commandWithin = 30 * time.Second

// Machine opens the system, with a folder of what it supervises.
type Machine func(units string) (native.Platform, error)

// Here is what is installed or uninstalled by somebody in an environment of this machine. undo counts
// the changes of a record that were not put back.
func Here(environment api.Environment, undo func(path string) int, machine Machine) (Options, error) {
	folders, err := home.Resolve(environment)
	if err != nil {
		return Options{}, err
	}
	text, err := os.ReadFile(folders.ConfigFile())
	if err == nil {
		parsed, err := config.Parse(string(text))
		if err != nil {
			e := api.Errorf(api.ReasonConfigInvalid, folders.ConfigFile(), "%s cannot be read, so it is not known where everything is.", folders.ConfigFile())
			if wrong, is := errors.AsType[*config.ParseError](err); is {
				e.Data.Causes = wrong.In(folders.ConfigFile()).Data.Causes
			}
			return Options{}, e.WithRemedy("Fix the file, or remove it if it sets no folders.")
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
		Folders: folders, OS: environment.OS, UID: environment.UID, Programs: filepath.Dir(self), IsAlone: environment.Getenv(api.EnvHome) != "",
		Undo: undo, Run: runCommand,
		Ranks: func(ctx context.Context) error {
			return endUnits(ctx, machine, filepath.Join(folders.Runtime, "units"))
		},
	}, nil
}

// CheckOwner refuses to uninstall as an account what is the whole machine's.
func (o Options) CheckOwner() error {
	state := o.at(systemState(o.OS))
	if o.IsAlone || !o.isUsers() || isThere(o.Folders.State) || !isThere(state) {
		return nil
	}
	return api.Errorf(api.ReasonAdminRequired, state, "Fulmen is installed for everybody on this machine.").
		WithRemedy("Uninstall it as root: sudo fulmen uninstall")
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
	output, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err == nil {
		return nil
	}
	words := strings.Join(append([]string{filepath.Base(name)}, args...), " ")
	if text := strings.TrimSpace(string(output)); text != "" {
		return api.Errorf(api.ReasonInternal, words, "%s: %s", words, text)
	}
	return api.Errorf(api.ReasonInternal, words, "%s failed%s.", words, native.ErrnoSuffix(err)).From(err)
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
