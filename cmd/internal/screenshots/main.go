//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"fulmen/app"
	"fulmen/app/tray"
	"fulmen/assets"
)

// within bounds all of it.
const within = 10 * time.Minute

func main() {
	out := flag.String("out", "docs/images", "the folder of the pictures")
	show := flag.String("show", "", "only show the menu of this picture, until it is ended")
	only := flag.String("only", "", "make this picture alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := run(ctx, *out, *show, *only); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, show, only string) error {
	if show != "" {
		return present(ctx, show)
	}
	for _, p := range pictures() {
		if only != "" && p.name != only {
			continue
		}
		path := filepath.Join(out, p.name+".png")
		if err := alone(ctx, p, path); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Println(path)
	}
	return nil
}

// alone makes one picture on a desktop of its own, on which nothing is left of
// another one.
func alone(ctx context.Context, p picture, path string) error {
	d, err := newDesktop(ctx)
	defer d.close()
	if err != nil {
		return err
	}
	return d.take(ctx, p, path)
}

// present shows the menu of a picture until ctx ends, as the app would.
func present(ctx context.Context, name string) error {
	for _, p := range pictures() {
		if p.name != name {
			continue
		}
		screen := tray.New(func(i app.Icon) []byte { return assets.MenuIcon(string(i)) })
		defer screen.Close()
		tray.Loop(func() {
			screen.Ready()
			screen.Draw(app.Build(p.state))
			go func() {
				defer tray.Quit()
				<-ctx.Done()
			}()
		})
		return nil
	}
	return fmt.Errorf("there is no picture %s", name)
}
