package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/godbus/dbus/v5"

	"fulmen/app/freedesktop"
	"fulmen/app/menubar"
	"fulmen/app/tray"
)

// selfTest is for what a desktop of Linux has none of.
func selfTest() error { return errors.New("the self-test is for macOS: it calls Objective-C") }

// run shows the menu until the person quits. Where the app runs already, that
// one is told what it was opened with.
func run(address string) error {
	// The loop ends badly where there is no bus.
	bus, err := dbus.ConnectSessionBus()
	if err != nil {
		return fmt.Errorf("there is no desktop session here (no D-Bus): %w", err)
	}
	defer bus.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	screen := tray.New(icon)
	defer screen.Close()
	shell := freedesktop.New(bus)
	defer shell.Close()
	bar := menubar.New(options(screen, shell, stop))
	if isFirst, err := freedesktop.Claim(bus, address, bar.Receive); err != nil || !isFirst {
		return err
	}
	if address != "" {
		bar.Receive(address)
	}
	over := make(chan struct{})
	tray.Loop(func() {
		screen.Ready()
		go func() {
			defer close(over)
			defer tray.Quit()
			bar.Run(ctx)
		}()
	})
	<-over
	return nil
}
