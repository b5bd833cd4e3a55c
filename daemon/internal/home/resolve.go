package home

import (
	"os"
	"path/filepath"
	"runtime"

	"fulmen/daemon/api"
)

// Environment is what the places depend on. Tests fill it in; a program takes
// it from Process.
type Environment struct {
	// OS is "darwin" or "linux", as runtime.GOOS has it.
	OS string
	// UID is the account that the daemon runs as; 0 is system mode.
	UID int
	// Home is the account's home folder; of no use in system mode.
	Home string
	// Getenv reads an environment variable, and is empty for one that is not set.
	Getenv func(name string) string
}

// Process is the environment of this process. A home folder that is not known
// is empty, and an error once it is needed.
func Process() Environment {
	folder, err := os.UserHomeDir()
	if err != nil {
		folder = ""
	}
	return Environment{OS: runtime.GOOS, UID: os.Geteuid(), Home: folder, Getenv: os.Getenv}
}

const (
	// maxSocketPath is the longest path of a Unix socket: sun_path has 104 bytes
	// on macOS (sys/un.h), one of which ends it. Linux has four more, which
	// nothing here relies on.
	maxSocketPath = 103
	// socketName is what the longest name of a socket in the runtime folder may
	// take: a rank's is its job, attempt and number.
	socketName = 32
	appFolder  = "Fulmen"
	unixFolder = "fulmen"
)

// Resolve says where the folders are; it touches nothing. EnvHome, if set, puts
// all of them under one; else root has those of the system, and everybody else
// ~/Library on macOS or what XDG says on Linux.
//
// It refuses a path that is not absolute, and a runtime folder whose sockets
// would have paths too long for the system.
func Resolve(env Environment) (Folders, error) {
	f, err := place(env)
	if err != nil {
		return Folders{}, err
	}
	if longest := len(f.Runtime) + 1 + socketName; longest > maxSocketPath {
		e := api.Errorf(api.ReasonBadValue, f.Runtime,
			"The path %s is %d bytes long; sockets in it would exceed the %d bytes that the system allows for their path (sun_path).",
			f.Runtime, len(f.Runtime), maxSocketPath)
		e.Data.Remedy = "Use a shorter folder, at most 70 bytes; " + api.EnvHome + " and XDG_RUNTIME_DIR move it."
		return Folders{}, e
	}
	return f, nil
}

func place(env Environment) (Folders, error) {
	f := Folders{Mode: api.ModeUser}
	if env.UID == 0 {
		f.Mode = api.ModeSystem
	}
	if all := env.Getenv(api.EnvHome); all != "" {
		if !filepath.IsAbs(all) {
			return f, notAbsolute(api.EnvHome, all)
		}
		all, f.IsTrial = filepath.Clean(all), true
		f.Config, f.State = all, filepath.Join(all, "state")
		f.Logs, f.Runtime = filepath.Join(all, "log"), filepath.Join(all, "run")
		return f, nil
	}
	switch {
	case f.Mode == api.ModeSystem && env.OS == "darwin":
		f.Config, f.State, f.Logs = api.MacStateFolder, api.MacStateFolder, api.MacLogFolder
		f.Runtime = api.RuntimeFolder
		return f, nil
	case f.Mode == api.ModeSystem:
		f.Config, f.State, f.Logs = api.LinuxConfigFolder, api.LinuxStateFolder, api.LinuxLogFolder
		f.Runtime = api.RuntimeFolder
		return f, nil
	case !filepath.IsAbs(env.Home):
		return f, notAbsolute("HOME", env.Home)
	case env.OS == "darwin":
		support := filepath.Join(env.Home, "Library", "Application Support", appFolder)
		f.Config, f.State = support, support
		f.Logs, f.Runtime = filepath.Join(env.Home, "Library", "Logs", appFolder), filepath.Join(support, "run")
		return f, nil
	}
	f.Config = filepath.Join(xdg(env, "XDG_CONFIG_HOME", ".config"), unixFolder)
	f.State = filepath.Join(xdg(env, "XDG_STATE_HOME", ".local/state"), unixFolder)
	f.Logs, f.Runtime = filepath.Join(f.State, "log"), filepath.Join(f.State, "run")
	if run := env.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		f.Runtime = filepath.Join(run, unixFolder)
	}
	return f, nil
}

// xdg reads a base folder; the specification says that a relative one is to be
// ignored.
func xdg(env Environment, name, fallback string) string {
	if dir := env.Getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(env.Home, fallback)
}

func notAbsolute(name, path string) error {
	e := api.Errorf(api.ReasonBadValue, name, "%s is %q, which is no absolute path.", name, path)
	e.Data.Remedy = "Set " + name + " to a path that begins with a slash."
	return e
}
