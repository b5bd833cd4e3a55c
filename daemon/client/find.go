package client

import (
	"os"
	"path/filepath"
	"runtime"

	"fulmen/daemon/api"
)

// Process is the environment of this process.
func Process() api.Environment {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // only the system's places are left then
	}
	return api.Environment{OS: runtime.GOOS, UID: os.Geteuid(), Home: home, Getenv: os.Getenv}
}

// Find lists where daemons may be, the most particular first: with EnvHome set
// the one there and no other; else the caller's own, then the system's, each by
// its socket, and last what api.json says. It reads that file and opens nothing.
func Find(env api.Environment) []Address {
	var all []Address
	if own := env.Places().Runtime; own != "" {
		all = append(all, Address{Socket: filepath.Join(own, api.SocketFile)})
	}
	if env.UID != 0 && env.Getenv(api.EnvHome) == "" {
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
func APIFilePath(env api.Environment) string {
	if env.UID == 0 {
		env.UID = -1 // root has its own, and not the system's
	}
	if config := env.Places().Config; config != "" {
		return filepath.Join(config, api.APIFile)
	}
	return ""
}
