package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"fyne.io/systray"
	"github.com/godbus/dbus/v5"

	"fulmen/app/freedesktop"
	"fulmen/app/menubar"
	"fulmen/app/tray"
)

// run shows the menu until the person quits.
func run() error {
	// Systray ends badly where there is no bus.
	bus, err := dbus.ConnectSessionBus()
	if err != nil {
		return fmt.Errorf("there is no desktop session here (no D-Bus): %w", err)
	}
	defer bus.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	screen := tray.New(icon)
	defer screen.Close()
	over := make(chan struct{})
	systray.Run(func() {
		screen.Ready()
		go func() {
			defer close(over)
			defer systray.Quit()
			menubar.New(options(screen, freedesktop.New(bus), stop)).Run(ctx)
		}()
	}, nil)
	<-over
	return nil
}
