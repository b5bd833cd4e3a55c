package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"fulmen/app"
	"fulmen/app/mac"
	"fulmen/app/mac/goflags"
	"fulmen/app/menubar"
	"fulmen/app/tray"
)

// run shows the menu until the person quits. A link comes by an event of the
// system's, whether the app runs already or not; one on the command line is a
// developer's.
func run(address string) error {
	if err := flagged(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	screen := tray.New(icon)
	defer screen.Close()
	shell := mac.New(ctx, stop)
	bar := menubar.New(options(mac.Screen{Screen: screen}, shell, stop))
	over := make(chan struct{})
	start := tray.External(func() {
		screen.Ready()
		go func() {
			defer close(over)
			defer tray.Quit()
			bar.Run(ctx)
		}()
		// Who has just installed Fulmen does not look for it in the menu bar.
		if address != "" || shell.Setup() != app.SetupGood {
			bar.Receive(address)
		}
	})
	mac.Loop(mac.Events{Launched: start, Opened: bar.Receive, Chosen: bar.Choose, Ends: stop}, shell)
	stop()
	<-over
	return nil
}

// flagged fails where the program was built without what it needs to call
// Objective-C.
func flagged() error {
	if built, ok := debug.ReadBuildInfo(); ok {
		return goflags.Check(built)
	}
	return nil
}

// selfTest calls Objective-C in each shape that the app uses, without a screen.
// Without the flag it may end by a crash, so that this is said first.
func selfTest() error {
	err := flagged()
	if err != nil {
		fmt.Println("the flag of the app's build: FAILED:", err)
	} else {
		fmt.Println("the flag of the app's build: ok")
	}
	return errors.Join(err, mac.SelfTest(os.Stdout))
}
