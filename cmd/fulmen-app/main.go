package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"fulmen"
	"fulmen/app"
	"fulmen/app/menubar"
	"fulmen/assets"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// version is the version of the whole product.
var version = fulmen.Version()

// answers bounds every call: somebody waits at a menu.
const answers = 10 * time.Second

// reports bounds a report, whose checks have bounds of their own.
const reports = time.Minute

func main() {
	var err error
	if len(os.Args) == 2 && os.Args[1] == "--self-test" {
		err = selfTest()
	} else {
		var address string
		if address, err = opened(os.Args[1:]); err == nil {
			err = run(address)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fulmen-app:", err)
		os.Exit(1)
	}
}

// opened is the link that the app is opened with, of the arguments; empty where
// there is none.
func opened(args []string) (address string, err error) {
	switch {
	case len(args) == 0:
		return "", nil
	case len(args) == 1 && strings.HasPrefix(strings.ToLower(args[0]), api.LinkScheme+":"):
		return args[0], nil
	}
	return "", fmt.Errorf("start it without arguments, with one link of the scheme %s, or with --self-test", api.LinkScheme)
}

// options are the options of the app on every system.
func options(screen menubar.Screen, shell menubar.Shell, quit func()) menubar.Options {
	env := client.Process()
	o := menubar.Options{Version: version, Screen: screen, Shell: shell, Quit: quit, Account: account(), Report: report,
		Dial: func(ctx context.Context) (*client.Client, error) {
			return client.Dial(ctx, client.Options{Addresses: client.Find(env), Timeout: answers, Version: version})
		}}
	if path := client.APIFilePath(env); path != "" {
		o.PreferencesFile = filepath.Join(filepath.Dir(path), menubar.PreferencesFile)
	}
	return o
}

// report has the command line beside the app collect a report.
func report(ctx context.Context) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, reports)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(filepath.Dir(program), "fulmen"), "report", "--preview").Output()
	return string(out), err
}

// account is the person's; root's is nobody's to be lent.
func account() string {
	if me, err := user.Current(); err == nil && os.Getuid() != 0 {
		return me.Username
	}
	return ""
}

func icon(i app.Icon) []byte { return assets.MenuIcon(string(i)) }
