package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fulmen/app"
	"fulmen/app/menubar"
	"fulmen/assets/icons"
	"fulmen/daemon/client"
)

// version is set by the build.
var version = "0.1.0-dev"

// answers bounds every call: somebody waits at a menu.
const answers = 10 * time.Second

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fulmen-app:", err)
		os.Exit(1)
	}
}

// options are those of the app on every system.
func options(screen menubar.Screen, shell menubar.Shell, quit func()) menubar.Options {
	env := client.Process()
	o := menubar.Options{Version: version, Screen: screen, Shell: shell, Quit: quit,
		Dial: func(ctx context.Context) (*client.Client, error) {
			return client.Dial(ctx, client.Options{Addresses: client.Find(env), Timeout: answers, Version: version})
		}}
	if path := client.APIFilePath(env); path != "" {
		o.PreferencesFile = filepath.Join(filepath.Dir(path), menubar.PreferencesFile)
	}
	return o
}

func icon(i app.Icon) []byte { return icons.Menu(string(i)) }
