package client

import (
	"os"
	"path/filepath"
	"runtime"

	"fulmen/daemon/api"
)

// Environment is what the places of a daemon depend on. Tests fill it in; a
// program takes it from Process.
type Environment struct {
	// OS is "darwin" or "linux", as runtime.GOOS has it.
	OS string
	// UID is the account of the caller; 0 has no daemon but the system's.
	UID int
	// Home is the account's home folder.
	Home string
	// Getenv reads an environment variable, and is empty for one that is not set.
	Getenv func(name string) string
}

// Process is the environment of this process.
func Process() Environment {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // only the system's places are left then
	}
	return Environment{OS: runtime.GOOS, UID: os.Geteuid(), Home: home, Getenv: os.Getenv}
}

// Find lists where daemons may be, the most particular first: with EnvHome set
// the one there and no other; else the caller's own, then the system's, each by
// its socket, and last what api.json says. It reads that file and opens nothing.
func Find(env Environment) []Address {
	var all []Address
	if home := env.Getenv(api.EnvHome); home != "" {
		all = append(all, Address{Socket: filepath.Join(home, "run", api.SocketFile)})
	} else {
		if dir := ownRuntime(env); dir != "" {
			all = append(all, Address{Socket: filepath.Join(dir, api.SocketFile)})
		}
		all = append(all, Address{Socket: filepath.Join(api.RuntimeFolder, api.SocketFile)})
	}
	if path := APIFilePath(env); path != "" {
		if a, err := LoadAddress(path); err == nil && a.URL != "" {
			all = append(all, Address{URL: a.URL, Token: a.Token})
		}
	}
	return all
}

// APIFilePath is where the caller's api.json belongs; empty where there is no
// such place.
func APIFilePath(env Environment) string {
	if home := env.Getenv(api.EnvHome); home != "" {
		return filepath.Join(home, api.APIFile)
	}
	switch {
	case !filepath.IsAbs(env.Home):
		return ""
	case env.OS == "darwin":
		return filepath.Join(support(env), api.APIFile)
	}
	return filepath.Join(xdg(env, "XDG_CONFIG_HOME", ".config"), "fulmen", api.APIFile)
}

// ownRuntime is where a daemon in user mode has its socket.
func ownRuntime(env Environment) string {
	switch {
	case env.UID == 0:
		return ""
	case env.OS == "darwin" && filepath.IsAbs(env.Home):
		return filepath.Join(support(env), "run")
	case env.OS == "darwin":
		return ""
	}
	if dir := env.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "fulmen")
	}
	if !filepath.IsAbs(env.Home) {
		return ""
	}
	return filepath.Join(xdg(env, "XDG_STATE_HOME", ".local/state"), "fulmen", "run")
}

func support(env Environment) string {
	return filepath.Join(env.Home, "Library", "Application Support", "Fulmen")
}

// xdg reads a base folder; the specification says that a relative one is to be
// ignored.
func xdg(env Environment, name, fallback string) string {
	if dir := env.Getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(env.Home, fallback)
}
