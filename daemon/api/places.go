package api

import "path/filepath"

// Environment is what the places of a daemon and of its clients depend on.
type Environment struct {
	// OS is "darwin" or "linux", as runtime.GOOS has it.
	OS string
	// UID is the account; the daemon of 0 is in system mode.
	UID int
	// Home is the account's home folder; empty where it is not known.
	Home string
	// Getenv reads an environment variable, and is empty for one that is not set.
	Getenv func(name string) string
}

// Places are the folders of a daemon; those that cannot be told are empty.
type Places struct{ Config, State, Logs, Runtime string }

// Places are those of the account's daemon. EnvHome, if set, puts all of them under
// one; else root has those of the system, and everybody else ~/Library on macOS or what
// XDG says on Linux.
func (env Environment) Places() Places {
	switch all := env.Getenv(EnvHome); {
	case all != "":
		return Places{filepath.Clean(all), filepath.Join(all, "state"), filepath.Join(all, "log"), filepath.Join(all, "run")}
	case env.UID == 0 && env.OS == "darwin":
		return Places{MacStateFolder, MacStateFolder, MacLogFolder, RuntimeFolder}
	case env.UID == 0:
		return Places{LinuxConfigFolder, LinuxStateFolder, LinuxLogFolder, RuntimeFolder}
	}
	var p Places
	switch {
	case !filepath.IsAbs(env.Home):
	case env.OS == "darwin":
		support := filepath.Join(env.Home, "Library", "Application Support", "Fulmen")
		return Places{support, support, filepath.Join(env.Home, "Library", "Logs", "Fulmen"), filepath.Join(support, "run")}
	default:
		p.Config, p.State = env.xdg("XDG_CONFIG_HOME", ".config"), env.xdg("XDG_STATE_HOME", ".local/state")
		p.Logs, p.Runtime = filepath.Join(p.State, "log"), filepath.Join(p.State, "run")
	}
	if run := env.Getenv("XDG_RUNTIME_DIR"); env.OS != "darwin" && filepath.IsAbs(run) {
		p.Runtime = filepath.Join(run, "fulmen")
	}
	return p
}

// xdg is a folder below a base; the specification says that a relative one is to be
// ignored.
func (env Environment) xdg(name, fallback string) string {
	if dir := env.Getenv(name); filepath.IsAbs(dir) {
		return filepath.Join(dir, "fulmen")
	}
	return filepath.Join(env.Home, fallback, "fulmen")
}
